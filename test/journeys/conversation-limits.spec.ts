import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Chat } from '../support/journeys/chat.js';
import { House, questionBody, successful } from '../support/journeys/house.js';
import { problem } from '../support/journeys/problems.js';

const LEASE_SECONDS = 10;
const QUESTIONS_MAX = 500;
const SENDS_MAX = 100;

let house: House;
beforeAll(async () => {
  house = await House.open();
});
afterAll(() => house.close());

describe('a turn whose lease lapses', () => {
  test('counts as finished: its questions are detached, its waits let go, and a continuation begins', async () => {
    const chat = new Chat(house);
    const { turn } = await chat.startTurn({ leaseSeconds: LEASE_SECONDS });
    const asked = await chat.ask(turn);
    const owed = await chat.owe();
    const wait = house.get(`/v1/questions/${asked.id}/wait?timeout=50`, house.people.asker);

    const continuation = await chat.continuation(20);
    expect(continuation?.answers).toStrictEqual([owed]);
    expect(await successful(await wait)).toStrictEqual(asked);
    expect(await chat.refusal(`turns/${turn}/boundary`)).toBe('turn_over');
    expect(await chat.refusal(`turns/${turn}/finish`)).toBe('turn_over');
    const { question } = await house.answer(asked.id);
    expect((await chat.startTurn({ continuation: continuation?.id })).answers).toStrictEqual([
      owed,
      question,
    ]);
  });

  test('does not while its boundaries renew it', async () => {
    const chat = new Chat(house);
    const { turn } = await chat.startTurn({ leaseSeconds: LEASE_SECONDS });
    const other = new Chat(house);
    const unattended = await other.startTurn({ leaseSeconds: LEASE_SECONDS });
    await other.owe();
    expect(await other.continuation(LEASE_SECONDS / 2)).toBeNull();
    await chat.boundary(turn);
    expect(await other.continuation(20)).not.toBeNull();
    expect(await other.refusal(`turns/${unattended.turn}/finish`)).toBe('turn_over');
    expect(await chat.boundary(turn)).toStrictEqual([]);
  });
});

describe('a conversation is full', () => {
  test('when it has as many questions as it may, until some are settled and handed over', async () => {
    const chat = new Chat(house);
    const asked = await Promise.all(Array.from({ length: QUESTIONS_MAX }, () => chat.ask(null)));
    const body = questionBody({ conversation: chat.id });
    const refused = await problem(await house.post('/v1/questions', chat.caller, body), 409);
    expect([refused.code, refused.detail]).toStrictEqual([
      'conversation_full',
      expect.stringContaining(String(QUESTIONS_MAX)),
    ]);
    for (const { id } of asked.slice(0, 2)) await house.answer(id);
    // They are queued, and the agent has not had them.
    await problem(await house.post('/v1/questions', chat.caller, body), 409);
    expect((await chat.startTurn()).answers).toHaveLength(2);
    await chat.ask(null);
    expect((await chat.stop()).cancelled).toHaveLength(QUESTIONS_MAX - 1);
  });

  test('when it admits as many sends as it may', async () => {
    const chat = new Chat(house);
    const sends = await Promise.all(Array.from({ length: SENDS_MAX }, () => chat.beginSend()));
    expect(await chat.refusal('sends')).toBe('conversation_full');
    await chat.withdrawSend(sends[0] ?? '');
    await chat.beginSend();
  });
});

test('commands of one conversation that come at once are all carried out', async () => {
  const chat = new Chat(house);
  const { turn } = await chat.startTurn();
  const asked = await Promise.all(Array.from({ length: 50 }, () => chat.ask(null)));
  const answered = asked.map(({ id }) => house.answer(id));
  const looks = Array.from({ length: 20 }, () => chat.boundary(turn));
  await Promise.all(answered);
  const told = (await Promise.all(looks)).flat();
  const rest = await chat.boundary(turn);
  const ids = [...told, ...rest].map(({ id }) => id);
  expect(ids.toSorted()).toStrictEqual(asked.map(({ id }) => id).toSorted());
  expect(await chat.boundary(turn)).toStrictEqual([]);
});
