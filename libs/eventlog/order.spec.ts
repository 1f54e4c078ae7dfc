import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.js';
import { append, openLog, type TestLog } from '../../test/support/log.js';
import { answer, ask, note } from '../../test/support/log-entries.js';

const NO_GAP = `SELECT coalesce(max(position), 0) = count(*) AS dense FROM events`;
const RUNS_FORWARD = `SELECT bool_and(at >= before) AS forward
  FROM (SELECT at, lag(at, 1, at) OVER (ORDER BY position) AS before FROM events) e`;

let database: TestDatabase;
let logs: TestLog[];

beforeAll(async () => {
  database = await createTestDatabase();
  logs = await Promise.all([1, 2, 3].map(() => openLog(database.connection)));
});
afterAll(async () => {
  await Promise.all(logs.map((log) => log.stop()));
  await database.drop();
});

function first(): TestLog {
  return logs[0] as TestLog;
}

describe('positions', () => {
  test('are the commit order: whoever looks sees every event up to the last, while several write', async () => {
    let writing = true;
    const looks: boolean[] = [];
    const look = async () => {
      while (writing) looks.push((await first().pool.query(NO_GAP)).rows[0].dense);
    };
    const write = async ({ log }: TestLog) => {
      for (let burst = 0; burst < 20; burst += 1) {
        await Promise.all(Array.from({ length: 10 }, () => append(log, ask())));
      }
    };
    const looking = look();
    await Promise.all(logs.map(write));
    writing = false;
    await looking;
    expect(looks.length).toBeGreaterThan(10);
    expect(new Set(looks)).toEqual(new Set([true]));
    expect((await first().pool.query(NO_GAP)).rows[0].dense).toBe(true);
    expect((await first().pool.query(RUNS_FORWARD)).rows[0].forward).toBe(true);
  });

  test('follow the order of submission within a process', async () => {
    const ids = Array.from({ length: 30 }, () => randomUUID());
    const events = await Promise.all(ids.map((id) => append(first().log, ask(id))));
    const positions = events.map(({ position }) => position);
    expect(positions).toEqual(positions.toSorted((a, b) => a - b));
  });
});

describe('the time of an event', () => {
  const ONE_HOUR_AHEAD = `INSERT INTO events
    SELECT (SELECT max(position) + 1 FROM events), gen_random_uuid(), 'acme', 'clock:' || $1, 1, 'ticked', 1, '{}',
      date_trunc('milliseconds', now() + interval '1 hour'), 'test', 'test', ''
    RETURNING to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS at`;

  test('does not run backwards when the clock does', async () => {
    const { rows } = await first().pool.query(ONE_HOUR_AHEAD, [randomUUID()]);
    const event = await append(first().log, ask());
    expect(event.at).toBe(rows[0].at);
  });

  test('decides about a deadline to the millisecond: answered before it, expired from it on', async () => {
    const id = randomUUID();
    await append(first().log, ask(id));
    const { rows } = await first().pool.query(ONE_HOUR_AHEAD, [randomUUID()]);
    const at = rows[0].at as string;
    const later = new Date(Date.parse(at) + 1).toISOString();
    const verdict = async (guard: object) => (await first().log.append(answer(id, { guard }))).verdict;
    expect(await verdict({ notAfter: at })).toBe('too_late');
    expect(await verdict({ notBefore: later })).toBe('too_early');
    expect(await verdict({ notBefore: at, notAfter: later })).toBe('appended');
  });

  test('is the same for all events of one batch', async () => {
    const stream = randomUUID();
    const events = await Promise.all([1, 2, 3].map((n) => append(first().log, note(`${stream}:${n}`, 1))));
    expect(new Set(events.map(({ at }) => at)).size).toBe(1);
  });
});
