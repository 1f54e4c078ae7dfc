import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.js';
import { append, openLog, type TestLog, tally } from '../../test/support/log.js';
import { answer, ask, DEADLINE_AT, idempotency, note, TENANT } from '../../test/support/log-entries.js';
import type { Append, ConversationView, Entry } from './entry.js';

const FAR_FUTURE = '2100-01-01T00:00:00.000Z';
const FAR_PAST = '2000-01-01T00:00:00.000Z';

let database: TestDatabase;
let here: TestLog;
let there: TestLog;

beforeAll(async () => {
  database = await createTestDatabase();
  here = await openLog(database.connection);
  there = await openLog(database.connection);
});
afterAll(async () => {
  await Promise.all([here.stop(), there.stop()]);
  await database.drop();
});

function together(first: Append, ...others: Append[]): Append {
  return { ...first, together: others.map(({ entry }) => entry) };
}

async function versionsOf(...streams: string[]): Promise<number[]> {
  const lengths = streams.map(
    async (stream) => (await here.log.readStream({ tenant: TENANT, stream }, 99)).length,
  );
  return await Promise.all(lengths);
}

describe('entries that are appended together', () => {
  test('stand next to each other in the log', async () => {
    const id = randomUUID();
    const result = await here.log.append(together(ask(id), note('a', 1), note('b', 1)));
    if (result.verdict !== 'appended') throw new Error(result.verdict);
    const { event } = result;
    expect(
      [event, ...result.together].map(({ stream, version, position }) => [stream, version, position]),
    ).toEqual([
      [`question:${id}`, 1, event.position],
      ['a', 1, event.position + 1],
      ['b', 1, event.position + 2],
    ]);
    const stored = await here.log.readTenant(TENANT, { after: event.position - 1, limit: 3 });
    expect(stored.map(({ hash }) => hash)).toEqual([event, ...result.together].map(({ hash }) => hash));
  });

  test('make nothing depend on each other that is appended alone next to them', async () => {
    const prefix = randomUUID();
    const alone = (name: string, version: number) => note(`${prefix}-${name}`, version);
    const batch = [
      together(alone('a', 1), alone('b', 1)),
      alone('good', 1),
      alone('bad', 7),
      alone('also-good', 1),
      together(alone('c', 1), alone('d', 7)),
      alone('good-too', 1),
    ];
    const verdicts = (await Promise.all(batch.map((item) => here.log.append(item)))).map(
      ({ verdict }) => verdict,
    );
    expect(verdicts).toEqual(['appended', 'appended', 'conflict', 'appended', 'conflict', 'appended']);
    const streams = ['a', 'b', 'good', 'bad', 'also-good', 'c', 'd', 'good-too'];
    expect(await versionsOf(...streams.map((name) => `${prefix}-${name}`))).toEqual([1, 1, 1, 0, 1, 0, 0, 1]);
  });

  test.each<[string, (change: Partial<Entry>) => Append[]]>([
    ['the first', (bad) => [note('x', 1, bad), note('y', 1), note('z', 1)]],
    ['one in the middle', (bad) => [note('x', 1), note('y', 1, bad), note('z', 1)]],
    ['the last', (bad) => [note('x', 1), note('y', 1), note('z', 1, bad)]],
  ])('are none of them there when %s is refused, and the verdict is that one`s', async (_which, entries) => {
    const rename = (item: Append, prefix: string): Append => {
      return { ...item, entry: { ...item.entry, stream: `${prefix}-${item.entry.stream}` } };
    };
    for (const [bad, verdict] of [
      [{ version: 7 }, 'conflict'],
      [{ guard: { notAfter: FAR_PAST } }, 'too_late'],
      [{ guard: { notBefore: FAR_FUTURE } }, 'too_early'],
    ] as const) {
      const prefix = randomUUID();
      const [first, ...others] = entries(bad).map((item) => rename(item, prefix));
      const refused = entries(bad).findIndex(
        ({ entry }) => entry.version === 7 || entry.guard.notAfter || entry.guard.notBefore,
      );
      const neighbours = [rename(note('before', 1), prefix), rename(note('after', 1), prefix)];
      const results = await Promise.all([
        here.log.append(neighbours[0] as Append),
        here.log.append(together(first as Append, ...others)),
        here.log.append(neighbours[1] as Append),
      ]);
      expect(results[1]).toMatchObject({ verdict, stream: `${prefix}-${'xyz'[refused]}` });
      expect(tally(results)).toEqual({ appended: 2, [verdict]: 1 });
      const names = ['before', 'x', 'y', 'z', 'after'].map((name) => `${prefix}-${name}`);
      expect(await versionsOf(...names)).toEqual([1, 0, 0, 0, 1]);
    }
  });

  test('leave positions without gaps, whoever was refused', async () => {
    const before = await append(here.log, ask());
    const taken = note(randomUUID(), 1);
    await append(here.log, taken);
    await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        (n % 2 ? here : there).log.append(
          together(ask(), note(randomUUID(), 1), n % 3 ? note(randomUUID(), 1) : taken),
        ),
      ),
    );
    const events = await here.log.readTenant(TENANT, { after: before.position, limit: 1_000 });
    expect(events.map(({ position }) => position)).toEqual(events.map((_, n) => before.position + 1 + n));
  });

  test('have one winner for each stream that they share', async () => {
    const shared = randomUUID();
    const items = Array.from({ length: 30 }, () => together(ask(), note(shared, 1)));
    const results = await Promise.all(items.map((item, n) => (n % 2 ? here : there).log.append(item)));
    expect(tally(results)).toEqual({ appended: 1, conflict: 29 });
    expect(results.flatMap((result) => ('stream' in result ? [result.stream] : []))).toEqual(
      Array(29).fill(shared),
    );
    const asked = await versionsOf(...items.map(({ entry }) => entry.stream));
    expect(asked.reduce((sum, one) => sum + one)).toBe(1);
  });

  test('are one request: its key is the first one`s', async () => {
    const id = randomUUID();
    const key = idempotency(id, 'body', 'made');
    expect(
      await here.log.append({ ...together(ask(id), note(`${id}-c`, 1)), idempotency: key }),
    ).toMatchObject({ verdict: 'appended' });
    const again = { ...together(ask(id), note(`${id}-c`, 2)), idempotency: key };
    expect(await here.log.append(again)).toEqual({ verdict: 'replayed', result: 'made' });
    expect(await versionsOf(`${id}-c`)).toEqual([1]);
  });

  test('are settled together', async () => {
    const id = randomUUID();
    await append(here.log, ask(id));
    await append(here.log, together(answer(id), note(`${id}-c`, 1)));
    const { rows } = await here.pool.query('SELECT id FROM open_questions WHERE id = $1', [id]);
    expect(rows).toEqual([]);
  });
});

describe('the row of a conversation', () => {
  const chat = (id: string, version: number, view: Partial<ConversationView>, guard = {}): Append => {
    const conversation = { id, owner: 'agent:a', lapsesAt: null, continuation: null, state: '{}', ...view };
    const { entry } = note(`conversation:${id}`, version, { guard });
    return { entry: { ...entry, conversation }, correlation: 'test' };
  };
  const rowOf = async (id: string) =>
    (await here.pool.query('SELECT version, owner, state, lapses_at FROM conversations WHERE id = $1', [id]))
      .rows[0];
  const continuationOf = async (id: string) =>
    (
      await here.pool.query('SELECT id, event, position::int FROM continuations WHERE conversation = $1', [
        id,
      ])
    ).rows[0];

  test('says what the last event has left, and the first lapse: a known one or the one counted from the commit', async () => {
    const id = randomUUID();
    const first = await append(
      here.log,
      chat(
        id,
        1,
        { state: JSON.stringify({ until: DEADLINE_AT }), lapsesAt: FAR_FUTURE },
        { lifetimeMs: 10_000 },
      ),
    );
    const until = new Date(Date.parse(first.at) + 10_000);
    expect(await rowOf(id)).toEqual({
      version: 1,
      owner: 'agent:a',
      state: JSON.stringify({ until: until.toISOString() }),
      lapses_at: until,
    });
    await append(here.log, chat(id, 2, { lapsesAt: FAR_PAST, owner: 'agent:b' }, { lifetimeMs: 10_000 }));
    expect(await rowOf(id)).toMatchObject({ version: 2, owner: 'agent:a', lapses_at: new Date(FAR_PAST) });
    await append(here.log, chat(id, 3, {}));
    expect(await rowOf(id)).toMatchObject({ version: 3, lapses_at: null });
  });

  test('has the continuation that is pending, since the event that began it', async () => {
    const [id, one, two] = [randomUUID(), randomUUID(), randomUUID()];
    await append(here.log, chat(id, 1, {}));
    expect(await continuationOf(id)).toBeUndefined();
    const began = await append(here.log, chat(id, 2, { continuation: one }));
    const pending = { id: one, event: began.id, position: began.position };
    expect(await continuationOf(id)).toEqual(pending);
    await append(here.log, chat(id, 3, { continuation: one }));
    expect(await continuationOf(id)).toEqual(pending);
    const next = await append(here.log, chat(id, 4, { continuation: two }));
    expect(await continuationOf(id)).toEqual({ id: two, event: next.id, position: next.position });
    await append(here.log, chat(id, 5, {}));
    expect(await continuationOf(id)).toBeUndefined();
  });

  test('is not touched by what is refused', async () => {
    const id = randomUUID();
    await append(here.log, chat(id, 1, { state: '{"n":1}' }));
    const refused = together(
      chat(id, 2, { state: '{"n":2}', continuation: randomUUID() }),
      note(randomUUID(), 2),
    );
    expect(await here.log.append(refused)).toMatchObject({ verdict: 'conflict' });
    expect(await rowOf(id)).toMatchObject({ version: 1, state: '{"n":1}' });
    expect(await continuationOf(id)).toBeUndefined();
  });
});
