import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Chat } from '../support/journeys/chat.js';
import { type Body, House, successful } from '../support/journeys/house.js';
import { problem } from '../support/journeys/problems.js';

let house: House;
beforeAll(async () => {
  house = await House.open();
});
afterAll(() => house.close());

let made = 0;
const withKey = () => ({ headers: { 'idempotency-key': `key-${++made}` } });
const replayed = (response: Response) => response.headers.get('idempotency-replayed');

/** How each request comes about that may be sent again. */
const requests: Record<string, (chat: Chat) => Promise<[string, Body]>> = {
  'a send': async () => ['sends', {}],
  'a turn': async (chat) => {
    await chat.owe();
    return ['turns', {}];
  },
  'a turn that takes a continuation': async (chat) => {
    await chat.owe();
    return ['turns', { continuation: (await chat.continuation())?.id }];
  },
  'a boundary': async (chat) => {
    const { turn } = await chat.startTurn();
    await chat.owe();
    return [`turns/${turn}/boundary`, {}];
  },
  'the end of a turn': async (chat) => {
    const { turn } = await chat.startTurn();
    await chat.ask(turn);
    await house.answer((await chat.ask(turn)).id);
    await chat.owe();
    return [`turns/${turn}/finish`, {}];
  },
  'a stop': async (chat) => {
    await chat.ask(null);
    await chat.owe();
    return ['stop', {}];
  },
};

describe.each(Object.entries(requests))('%s that is sent again with its Idempotency-Key', (_, prepare) => {
  test('says the same, whatever happened since, and does nothing', async () => {
    const chat = new Chat(house);
    const [path, body] = await prepare(chat);
    const options = withKey();
    const first = await chat.post(path, body, options);
    expect(replayed(first)).toBeNull();
    const said = await successful(first, first.status);
    await chat.delete();
    const later = await chat.owe();

    const again = await chat.post(path, body, options);
    expect([again.status, replayed(again)]).toStrictEqual([first.status, 'true']);
    expect(await successful(again, again.status)).toStrictEqual(said);
    expect((await chat.startTurn()).answers).toStrictEqual([later]);
  });

  test('says the same after a crash', async () => {
    const chat = new Chat(house);
    const [path, body] = await prepare(chat);
    const options = withKey();
    const first = await chat.post(path, body, options);
    const said = await successful(first, first.status);
    await house.restart('kill');
    const again = await chat.post(path, body, options);
    expect(await successful(again, first.status)).toStrictEqual(said);
  });
});

describe('the answers of a response that was lost', () => {
  test('come again with the same key, and never with another', async () => {
    const chat = new Chat(house);
    const { turn } = await chat.startTurn();
    const owed = [await chat.owe(), await chat.owe()];
    const lost = withKey();
    expect(await chat.boundary(turn, lost)).toStrictEqual(owed);
    expect(await chat.boundary(turn, withKey())).toStrictEqual([]);
    const later = await chat.owe();
    expect(await chat.boundary(turn, lost)).toStrictEqual(owed);
    expect(await chat.boundary(turn)).toStrictEqual([later]);
  });

  test('come once from requests that are sent at the same time with the same key', async () => {
    const chat = new Chat(house);
    const owed = await chat.owe();
    const options = withKey();
    const responses = await Promise.all([1, 2, 3, 4].map(() => chat.post('turns', { turn: 't' }, options)));
    const statuses = responses.map(({ status }) => status);
    expect(statuses).toContain(201);
    expect(statuses.filter((status) => status !== 201 && status !== 409)).toStrictEqual([]);
    for (const response of responses)
      if (response.status === 409)
        expect((await problem(response, 409)).code).toBe('idempotency_in_progress');
      else expect(await response.json()).toStrictEqual({ turn: 't', answers: [owed] });
    expect(await chat.boundary('t')).toStrictEqual([]);
  });
});

test('a key is refused for another body, and is of one conversation and one turn', async () => {
  const [chat, other] = [new Chat(house), new Chat(house)];
  const options = withKey();
  await chat.startTurn({ turn: 'a' }, options);
  const { code } = await problem(await chat.post('turns', { turn: 'b' }, options), 422);
  expect(code).toBe('idempotency_key_reused');
  expect((await other.startTurn({ turn: 'b' }, options)).turn).toBe('b');
  expect(await chat.boundary('a', options)).toStrictEqual([]);
  await problem(await other.post('turns/a/boundary', {}, options), 409);
});

test('a send of a name that is being admitted is the same send', async () => {
  const chat = new Chat(house);
  expect([await chat.beginSend({ send: 'one' }), await chat.beginSend({ send: 'one' })]).toStrictEqual([
    'one',
    'one',
  ]);
  await chat.withdrawSend('one');
  await chat.owe();
  expect(await chat.continuation()).not.toBeNull();
});

test('what was refused may be sent again with its key once it is possible', async () => {
  const chat = new Chat(house);
  const { turn } = await chat.startTurn();
  const options = withKey();
  await problem(await chat.post('turns', { turn: 'next' }, options), 409);
  await chat.finish(turn);
  expect((await chat.startTurn({ turn: 'next' }, options)).turn).toBe('next');
});
