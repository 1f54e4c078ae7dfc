import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { House, type Question } from '../support/journeys/house.js';
import { badFields, problem } from '../support/journeys/problems.js';
import type { Caller } from '../support/settled-process.js';

let house: House;
let other: Caller;
let roomie: Caller;
let q: Record<'direct' | 'bos' | 'room' | 'chat' | 'others' | 'answered' | 'cancelled', Question>;
beforeAll(async () => {
  house = await House.open();
  other = await house.server.key('agent:other', ['ask']);
  roomie = await house.server.key('user:cy', ['answer']);
  await house.room('ops', ['user:cy']);
  await house.room('dev');
  const bo = { scope: { kind: 'direct', user: 'user:bo' } };
  q = {
    direct: await house.ask(),
    bos: await house.ask(bo),
    room: await house.ask({ scope: { kind: 'room', room: 'ops' } }),
    chat: await house.ask({ conversation: 'chat-1', turn: 't' }),
    others: await house.ask(bo, other),
    answered: (await house.answer((await house.ask()).id)).question,
    cancelled: (await house.cancel((await house.ask({ scope: { kind: 'room', room: 'dev' } })).id)).question,
  };
});
afterAll(() => house.close());

const listed = async (query: string, caller = house.people.auditor) => (await house.list(query, caller)).data;
const newestFirst = (questions: readonly Question[]) =>
  [...questions].sort((one, another) => (one.id < another.id ? 1 : -1));

/** Every page from the first to the last. */
async function pages(query: string, caller: Caller, between = async () => {}): Promise<Question[][]> {
  const found: Question[][] = [];
  let cursor: string | null = '';
  do {
    const from: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const page = await house.list(`${query}${from}`, caller);
    found.push([...page.data]);
    cursor = page.nextCursor;
    await between();
  } while (cursor !== null);
  return found;
}

describe('listing', () => {
  test('shows an auditor and an admin everything, newest first, envelope for envelope', async () => {
    const all = newestFirst(Object.values(q));
    for (const caller of [house.people.auditor, house.people.admin])
      expect(await house.list('', caller)).toStrictEqual({ data: all, nextCursor: null });
  });

  test('shows everybody else what they may see', async () => {
    const { others, ...mine } = q;
    expect(await listed('', house.people.asker)).toStrictEqual(newestFirst(Object.values(mine)));
    expect(await listed('', other)).toStrictEqual([others]);
    expect(await listed('', house.people.ada)).toStrictEqual(newestFirst([q.direct, q.chat, q.answered]));
    expect(await listed('', house.people.bo)).toStrictEqual([others, q.bos]);
    expect(await listed('', roomie)).toStrictEqual([q.room]);
  });

  test('shows the members of a room its questions while they are members', async () => {
    await house.join('ops', 'user:bo');
    expect(await listed('scope=room', house.people.bo)).toStrictEqual([q.room]);
    await house.leave('ops', 'user:bo');
    expect(await listed('scope=room', house.people.bo)).toStrictEqual([]);
  });

  test('filters by state', async () => {
    expect(await listed('state=answered')).toStrictEqual([q.answered]);
    expect(await listed('state=cancelled')).toStrictEqual([q.cancelled]);
    expect(await listed('state=expired')).toStrictEqual([]);
    expect((await listed('state=pending')).length).toBe(5);
  });

  test('filters by scope, room, user, asker and conversation, and by several at once', async () => {
    expect(await listed('scope=room')).toStrictEqual([q.cancelled, q.room]);
    expect((await listed('scope=direct')).length).toBe(5);
    expect(await listed('room=ops')).toStrictEqual([q.room]);
    expect(await listed('user=user:bo')).toStrictEqual([q.others, q.bos]);
    expect(await listed('asker=agent%3Aother')).toStrictEqual([q.others]);
    expect(await listed('conversation=chat-1')).toStrictEqual([q.chat]);
    expect(await listed('asker=agent:deployer&user=user:bo&state=pending')).toStrictEqual([q.bos]);
    expect(await listed('room=ops&user=user:bo')).toStrictEqual([]);
  });

  test('widens nothing by a filter', async () => {
    expect(await listed('user=user:bo', house.people.ada)).toStrictEqual([]);
    expect(await listed('room=ops', house.people.ada)).toStrictEqual([]);
    expect(await listed('asker=agent:other', house.people.asker)).toStrictEqual([]);
  });

  test('finds nothing for filters that match nothing', async () => {
    for (const query of ['room=nowhere', 'user=user:nobody', 'asker=x', 'conversation=y'])
      expect(await house.list(query, house.people.auditor)).toStrictEqual({ data: [], nextCursor: null });
  });

  test('leads through all pages once, also while more is asked', async () => {
    const before = await listed('');
    const late = await house.server.key('agent:late', ['ask']);
    const found = await pages('limit=2', house.people.auditor, async () => void (await house.ask({}, late)));
    expect(found.flat()).toStrictEqual(before);
    expect(found.map((page) => page.length)).toStrictEqual([2, 2, 2, 1]);
  });

  test('goes on from a cursor after a restart', async () => {
    const { data, nextCursor } = await house.list('limit=2', house.people.bo);
    expect(nextCursor).toBeNull();
    const first = await house.list('limit=1', house.people.bo);
    await house.restart();
    const second = await house.list(
      `limit=1&cursor=${encodeURIComponent(first.nextCursor ?? '')}`,
      house.people.bo,
    );
    expect([...first.data, ...second.data]).toStrictEqual(data);
  });

  test('keeps the filters through the pages', async () => {
    const found = await pages('limit=1&user=user:bo', house.people.auditor);
    expect(found.flat()).toStrictEqual([q.others, q.bos]);
  });

  test('pages what a caller may see without holes', async () => {
    const found = await pages('limit=1', house.people.bo);
    expect(found.flat()).toStrictEqual([q.others, q.bos]);
  });

  test('refuses cursors that it did not make', async () => {
    const { nextCursor } = await house.list('limit=1', house.people.auditor);
    const cursor = nextCursor ?? '';
    const flipped = `${cursor.slice(0, -3)}${cursor.at(-3) === 'A' ? 'B' : 'A'}${cursor.slice(-2)}`;
    const tampered = [
      'x',
      `${cursor}x`,
      cursor.slice(1),
      flipped,
      btoa('{"id":1}'),
      '\u0000',
      `${cursor}%`,
      '0',
    ];
    for (const one of tampered) {
      const response = await house.get(
        `/v1/questions?cursor=${encodeURIComponent(one)}`,
        house.people.auditor,
      );
      expect([one, await badFields(response)]).toStrictEqual([one, ['cursor']]);
    }
  });

  test.each([
    'limit=0',
    'limit=201',
    'limit=-1',
    'limit=1.5',
    'limit=ten',
    'limit=',
    'state=open',
    'state=',
    'state=PENDING',
    'scope=world',
    'room=%00',
    'user=%00',
    'asker=a%00b',
    'conversation=%00',
    'limit=1&limit=2',
    'state=pending&state=answered',
    'state[]=pending',
  ])('refuses the query %s', async (query) => {
    await problem(await house.get(`/v1/questions?${query}`, house.people.auditor), 422);
  });

  test('takes limits from 1 to 200', async () => {
    expect((await listed('limit=1')).length).toBe(1);
    expect((await listed('limit=200')).length).toBeGreaterThan(5);
  });

  test('needs a key', async () => {
    await problem(await house.get('/v1/questions'), 401);
  });
});
