import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type pg from 'pg';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.js';
import { append } from '../../test/support/log.js';
import { answer, ask, idempotency, TENANT } from '../../test/support/log-entries.js';
import { createPool } from '../platform/database.js';
import { EventLog } from './event-log.js';
import { readOverdue } from './overdue.js';
import { readAll } from './reader.js';

const CYCLES = 300;
/** Each of these has a lookup of its own; reading more of an index than a few entries for each would be a scan. */
const ENTRIES_PER_CYCLE = 30;

let database: TestDatabase;
let pool: pg.Pool;
let log: EventLog;

beforeAll(async () => {
  database = await createTestDatabase();
  // One session: its plans are made in the first cycle and kept.
  pool = createPool(database.connection, 1);
  log = new EventLog({ pool, connection: database.connection });
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

async function cycle(): Promise<void> {
  const id = randomUUID();
  const guard = { lifetimeMs: 60_000, memberOf: 'deploys' };
  const asked = await append(
    log,
    ask(id, { guard, idempotency: idempotency(id, id, id), actor: 'user:ada' }),
  );
  await log.load({ tenant: TENANT, id, subject: 'user:ada' });
  // One that stays open.
  await append(log, ask());
  await append(log, answer(id));
  const after = asked.position - 1;
  await readAll(pool, after, 10);
  await log.readTenant(TENANT, { after, limit: 10 });
  await log.readStream({ tenant: TENANT, stream: asked.stream }, 10);
  await readOverdue(pool, 10);
}

async function scans(): Promise<{ tables: Record<string, number>; entries: number }> {
  await pool.query('SELECT pg_stat_force_next_flush()');
  const tables = await pool.query(`SELECT relname, seq_scan::int FROM pg_stat_user_tables
    WHERE relname IN ('events', 'questions', 'open_questions', 'idempotency_keys', 'room_members')`);
  const indexes = await pool.query('SELECT sum(idx_tup_read)::int AS entries FROM pg_stat_user_indexes');
  // Found by (tenant, id) there, a question would cost as much as all of its tenant's.
  const others =
    await pool.query(`SELECT indexrelname AS relname, idx_scan::int AS seq_scan FROM pg_stat_user_indexes
    WHERE indexrelname IN ('questions_of_asker', 'questions_of_addressee')`);
  const counts = [...tables.rows, ...others.rows].map(({ relname, seq_scan }) => [relname, seq_scan]);
  return { tables: Object.fromEntries(counts), entries: indexes.rows[0].entries };
}

describe('plans that were made while the tables were as good as empty', () => {
  test.each([0, 1, 5])(
    'stay lookups when the tables have grown (analysed with %p questions)',
    async (questions) => {
      await pool.query('TRUNCATE events, questions, open_questions, idempotency_keys, rooms, room_members');
      await pool.query('INSERT INTO rooms (tenant, room) VALUES ($1, $2)', [TENANT, 'deploys']);
      await pool.query(
        `INSERT INTO room_members SELECT $1, 'deploys', s FROM unnest(ARRAY['user:ada', 'user:bob']) s`,
        [TENANT],
      );
      for (let n = 0; n < questions; n += 1) await cycle();
      await pool.query('ANALYZE');
      for (let n = 0; n < 10; n += 1) await cycle();
      await pool.query(
        `INSERT INTO room_members SELECT $1, 'deploys', 'user:' || n FROM generate_series(1, 500) n`,
        [TENANT],
      );
      const before = await scans();
      for (let n = 0; n < CYCLES; n += 1) await cycle();
      const after = await scans();
      expect(after.tables).toEqual(before.tables);
      expect((after.entries - before.entries) / CYCLES).toBeLessThan(ENTRIES_PER_CYCLE);
    },
  );
});
