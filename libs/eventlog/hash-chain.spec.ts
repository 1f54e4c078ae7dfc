import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.js';
import { append, openLog, type TestLog } from '../../test/support/log.js';
import { answer, ask, COMMITTED_AT, DEADLINE_AT, note } from '../../test/support/log-entries.js';

const STORED = `SELECT position, id, tenant, stream, version, type, schema,
    to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS at, actor, correlation,
    convert_to(data, 'UTF8') AS data, hash
  FROM events WHERE stream = $1 ORDER BY version`;

let database: TestDatabase;
let open: TestLog;

beforeAll(async () => {
  database = await createTestDatabase();
  open = await openLog(database.connection);
});
afterAll(async () => {
  await open.stop();
  await database.drop();
});

/** The chain as anyone can compute it from what is stored. */
async function recomputed(stream: string): Promise<{ stored: string[]; computed: string[] }> {
  const { rows } = await open.pool.query(STORED, [stream]);
  let previous = Buffer.alloc(0);
  const computed = rows.map((row) => {
    const { position, id, tenant, version, type, schema, at, actor, correlation, data } = row;
    const head = [position, id, tenant, stream, version, type, schema, at, actor, correlation].join('\n');
    previous = createHash('sha256').update(previous).update(`${head}\n`).update(data).digest();
    return previous.toString('hex');
  });
  return { stored: rows.map(({ hash }) => hash.toString('hex')), computed };
}

describe('the hash of an event', () => {
  test('covers the hash before it in its stream and the bytes that are stored', async () => {
    const id = randomUUID();
    const written = [await append(open.log, ask(id)), await append(open.log, answer(id))];
    const { stored, computed } = await recomputed(`question:${id}`);
    expect(stored).toEqual(computed);
    expect(written.map(({ hash }) => hash)).toEqual(computed);
  });

  test('is computed in UTF-8, of what JSON keeps as it was written', async () => {
    const stream = `conversation:${randomUUID()}`;
    const data = '{ "b": 1.0, "a": "żółw 🐢 \\u00e9", "b2": 1e2 }';
    await append(open.log, note(stream, 1, { data }));
    await append(open.log, note(stream, 2, { data, actor: 'user:zoë' }));
    const { stored, computed } = await recomputed(stream);
    expect(stored).toEqual(computed);
    expect((await open.log.readStream({ tenant: 'acme', stream }, 9)).map((event) => event.data)).toEqual([
      data,
      data,
    ]);
  });

  test('shows that a stored event was changed', async () => {
    const stream = `conversation:${randomUUID()}`;
    for (const version of [1, 2, 3]) await append(open.log, note(stream, version));
    await open.pool.query(`UPDATE events SET data = '{"forged":true}' WHERE stream = $1 AND version = 1`, [
      stream,
    ]);
    const { stored, computed } = await recomputed(stream);
    expect(stored.map((hash, index) => hash === computed[index])).toEqual([false, false, false]);
  });
});

describe('the commit times', () => {
  const texts = [
    '\\ud800',
    '"\\ud800"',
    '\\"\\ud800\\"',
    '"\\ud801',
    'ud800"',
    '\\\\ud801',
    "'$&' $1 \\1 %L",
  ];

  test.each([[60_000], [1], [undefined], [7 * 24 * 3_600_000]])(
    'are filled in alike by the database and by the process, and in no text (lifetime %p)',
    async (lifetimeMs) => {
      const id = randomUUID();
      const json = JSON.stringify({ texts, at: COMMITTED_AT, more: [COMMITTED_AT], until: DEADLINE_AT });
      const guard = lifetimeMs === undefined ? {} : { lifetimeMs };
      const expiresAt = lifetimeMs === undefined ? '2100-01-01T00:00:00.000Z' : null;
      const event = await append(
        open.log,
        ask(id, { data: json, guard, view: { envelope: json, expiresAt } }),
      );
      const until = new Date(Date.parse(event.at) + (lifetimeMs ?? 0)).toISOString();
      expect(JSON.parse(event.data)).toEqual({ texts, at: event.at, more: [event.at], until });

      const stored = await open.pool.query('SELECT data FROM events WHERE id = $1', [event.id]);
      const view = await open.pool.query('SELECT envelope FROM questions WHERE id = $1', [id]);
      expect(stored.rows).toEqual([{ data: event.data }]);
      expect(view.rows).toEqual([{ envelope: event.envelope }]);
    },
  );

  test('of an event that is read are those of the event that was appended', async () => {
    const id = randomUUID();
    const event = await append(open.log, ask(id));
    expect(await open.log.readStream({ tenant: 'acme', stream: `question:${id}` }, 9)).toEqual([event]);
  });
});

describe('in a session whose time zone is not UTC', () => {
  let elsewhere: TestLog;
  beforeAll(async () => {
    const far = await createTestDatabase();
    await open.pool.query(`ALTER DATABASE ${far.connection.database} SET timezone = 'Asia/Kathmandu'`);
    elsewhere = await openLog(far.connection);
    const { stop } = elsewhere;
    elsewhere = { ...elsewhere, stop: () => stop().then(() => far.drop()) };
  });
  afterAll(() => elsewhere.stop());

  test('every instant is still in UTC', async () => {
    const { rows } = await elsewhere.pool.query('SHOW timezone');
    expect(rows).toEqual([{ TimeZone: 'Asia/Kathmandu' }]);
    const id = randomUUID();
    const event = await append(elsewhere.log, ask(id));
    expect(Math.abs(Date.parse(event.at) - Date.now())).toBeLessThan(10_000);
    expect(JSON.parse(event.data)).toMatchObject({ askedAt: event.at });
    const [read] = await elsewhere.log.readTenant('acme', { after: 0, limit: 1 });
    expect(read).toEqual(event);
    const { now } = await elsewhere.log.load({ tenant: 'acme', id, subject: 'user:ada' });
    expect(now >= event.at).toBe(true);
    const late = await elsewhere.log.append(answer(id, { guard: { notAfter: event.at } }));
    expect(late.verdict).toBe('too_late');
  });
});
