import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { EventStream } from '../support/journeys/event-stream.js';
import { House, NO, type Question, questionBody, successful, YES } from '../support/journeys/house.js';
import { badFields, problem } from '../support/journeys/problems.js';

interface LoggedEvent {
  readonly position: string;
  readonly stream: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

let house: House;
let question: Question;
beforeAll(async () => {
  house = await House.open();
  question = (await house.answer((await house.ask({ defaultOption: 'no' })).id)).question;
  await house.cancel((await house.ask()).id, { reason: 'r' });
  await house.ask();
});
afterAll(() => house.close());

const events = async (path: string, caller = house.people.auditor) =>
  (await successful<{ data: LoggedEvent[] }>(await house.get(path, caller))).data;
const positions = (all: readonly LoggedEvent[]) => all.map(({ position }) => position);

describe('the history of a question', () => {
  test('is told oldest first, every key of it', async () => {
    const common = {
      position: expect.stringMatching(/^\d+$/),
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      stream: `question:${question.id}`,
      schema: 1,
      hash: expect.stringMatching(/\S/),
    };
    const path = `/v1/questions/${question.id}/events`;
    const told = await events(path);
    expect(told).toStrictEqual([
      {
        ...common,
        version: 1,
        type: 'question.asked',
        at: question.askedAt,
        actor: 'agent:deployer',
        data: expect.objectContaining({ ...questionBody(), defaultOption: 'no' }),
      },
      {
        ...common,
        version: 2,
        type: 'question.answered',
        at: question.outcome?.at,
        actor: 'user:ada',
        data: {
          by: 'user:ada',
          answer: { kind: 'option', option: YES },
          eligibility: { kind: 'direct' },
        },
      },
    ]);
    for (const caller of [house.people.asker, house.people.admin])
      expect(await events(path, caller)).toStrictEqual(told);
  });

  test('is for the asker, auditors and admins', async () => {
    const path = `/v1/questions/${question.id}/events`;
    await problem(await house.get(path), 401);
    await problem(await house.get(path, house.people.ada), 403);
    await problem(await house.get(path, house.people.bo), 404);
    await problem(await house.get('/v1/questions/nope/events', house.people.auditor), 404);
  });
});

describe('the feed', () => {
  test('tells everything in the order in which it was committed', async () => {
    const all = await events('/v1/events');
    expect(all.filter(({ type }) => type.startsWith('question.')).map(({ type }) => type)).toStrictEqual([
      'question.asked',
      'question.answered',
      'question.asked',
      'question.cancelled',
      'question.asked',
    ]);
    const numbers = positions(all).map(BigInt);
    expect(numbers.every((position, index) => index === 0 || position > (numbers[index - 1] ?? 0n))).toBe(
      true,
    );
    const history = await events(`/v1/questions/${question.id}/events`);
    expect(all.filter(({ stream }) => stream === `question:${question.id}`)).toStrictEqual(history);
  });

  test('goes on after a position, without it', async () => {
    const all = await events('/v1/events');
    expect(await events(`/v1/events?after=${all[1]?.position}`)).toStrictEqual(all.slice(2));
    expect(await events(`/v1/events?after=${all[0]?.position}&limit=2`)).toStrictEqual(all.slice(1, 3));
    expect(await events(`/v1/events?after=${all.at(-1)?.position}`)).toStrictEqual([]);
    expect(await events('/v1/events?after=0')).toStrictEqual(all);
    expect(await events('/v1/events?after=1000000000000000')).toStrictEqual([]);
  });

  test('comes as lines of JSON', async () => {
    const headers = { accept: 'application/x-ndjson' };
    const response = await house.get('/v1/events?limit=3', house.people.auditor, { headers });
    expect(response.headers.get('content-type')).toMatch(/^application\/x-ndjson\b/);
    const text = await response.text();
    expect(text.endsWith('\n')).toBe(true);
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
    expect(lines).toStrictEqual((await events('/v1/events')).slice(0, 3));
  });

  test.each([
    'after=x',
    'after=-1',
    'after=',
    'after=1.5',
    'after=9223372036854775808',
    'after=1&after=2',
    'after=%00',
  ])('refuses %s', async (query) => {
    const response = await house.get(`/v1/events?${query}`, house.people.auditor);
    expect(await badFields(response)).toStrictEqual(['after']);
  });

  test.each(['limit=0', 'limit=-1', 'limit=x', 'limit=1000000000'])('refuses %s', async (query) => {
    expect(await badFields(await house.get(`/v1/events?${query}`, house.people.auditor))).toStrictEqual([
      'limit',
    ]);
  });

  test.each(['application/json', 'text/event-stream', 'application/x-ndjson'])(
    'is for auditors: %s',
    async (accept) => {
      const { asker, ada, admin } = house.people;
      await problem(await house.get('/v1/events', undefined, { headers: { accept } }), 401);
      for (const caller of [asker, ada, admin])
        await problem(await house.get('/v1/events', caller, { headers: { accept } }), 403);
    },
  );
});

describe('the feed as a stream', () => {
  const follow = (query = '', headers = {}) =>
    EventStream.open<LoggedEvent>(house, `/v1/events${query}`, house.people.auditor, headers);

  test('tells what was and what comes, each event once, with its position as its id', async () => {
    const all = await events('/v1/events');
    const stream = await follow('?after=0');
    await stream.first(all.length);
    const { id } = await house.ask({ options: [NO] });
    await house.answer(id, { option: 'no' });
    const told = await stream.first(all.length + 2);
    const now = await events('/v1/events');
    expect(told.map(({ data }) => data)).toStrictEqual(now);
    expect(told.map((message) => message.id)).toStrictEqual(positions(now));
    await stream.close();
  });

  test('is resumed after the last event, also when the server was restarted in between', async () => {
    const stream = await follow('?after=0');
    await stream.first(2);
    await stream.close();
    const [, seen] = stream.messages;
    await house.ask();
    await house.restart('kill');
    await house.ask();
    const all = await events('/v1/events');
    const missed = all.slice(all.findIndex(({ position }) => position === seen?.id) + 1);
    const resumed = await follow('', { 'last-event-id': seen?.id ?? '' });
    expect((await resumed.first(missed.length)).map(({ data }) => data)).toStrictEqual(missed);
    await resumed.close();
  });

  test('believes Last-Event-ID before after', async () => {
    const all = await events('/v1/events');
    const stream = await follow('?after=0', { 'last-event-id': all.at(-2)?.position });
    expect((await stream.first(1))[0]?.data).toStrictEqual(all.at(-1));
    await stream.close();
  });

  test('refuses a Last-Event-ID that it did not give', async () => {
    const headers = { accept: 'text/event-stream', 'last-event-id': 'x' };
    await problem(await house.get('/v1/events', house.people.auditor, { headers }), 422);
  });
});
