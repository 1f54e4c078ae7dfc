import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type pg from 'pg';
import { raiseBarrier } from '../../test/support/barrier.js';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.js';
import { eventually } from '../../test/support/eventually.js';
import { append, openLog, type TestLog } from '../../test/support/log.js';
import { answer, ask, idempotency, note } from '../../test/support/log-entries.js';
import { startProxy, type TcpProxy } from '../../test/support/tcp-proxy.js';
import { createPool, isDatabaseUnavailable } from '../platform/database.js';
import { type Append, EVENT_MAX_BYTES } from './entry.js';
import { EventLog } from './event-log.js';

let database: TestDatabase;
let direct: TestLog;
let proxy: TcpProxy;
let proxied: { readonly log: EventLog; readonly pool: pg.Pool };

beforeAll(async () => {
  database = await createTestDatabase();
  direct = await openLog(database.connection);
  proxy = await startProxy(database);
  // Not started: its only connection is the one that appends.
  const pool = createPool(proxy.connection, 1);
  proxied = { pool, log: new EventLog({ pool, connection: proxy.connection }) };
  await append(proxied.log, ask());
});
afterAll(async () => {
  await Promise.all([direct.stop(), proxied.pool.end()]);
  await proxy.stop();
  await database.drop();
});

async function countOf(items: readonly Append[]): Promise<number> {
  const streams = items.map(({ entry }) => entry.stream);
  const { rows } = await direct.pool.query('SELECT count(*)::int FROM events WHERE stream = ANY($1)', [
    streams,
  ]);
  return rows[0].count;
}

function keyed(count: number): Append[] {
  const ids = Array.from({ length: count }, () => randomUUID());
  return ids.map((id) => ask(id, { idempotency: idempotency(id, 'body', `result of ${id}`) }));
}

describe('an item that cannot be appended', () => {
  const bad: [string, () => Append][] = [
    ['an id that is no UUID', () => ask(randomUUID(), { view: { id: 'not-a-uuid' } })],
    ['U+0000 in its data', () => note(randomUUID(), 1, { data: '{"text":"\0"}' })],
    ['U+0000 in its actor', () => note(randomUUID(), 1, { actor: '\0' })],
    ['a guard that is no instant', () => note(randomUUID(), 1, { guard: { notAfter: 'soon' } })],
    ['a first event without a deadline', () => ask(randomUUID(), { guard: {} })],
    ['a name too long for an index', () => ask(randomUUID(), { view: { asker: longName() } })],
    ['data too long for a record of Kafka', () => note(randomUUID(), 1, { data: tooLong() })],
    [
      'an envelope too long for a record of Kafka',
      () => ask(randomUUID(), { view: { envelope: tooLong() } }),
    ],
  ];

  // Random, or it would be compressed below the limit.
  function longName(): string {
    return Array.from({ length: 400 }, () => randomUUID()).join('');
  }

  // In bytes, not in characters.
  function tooLong(): string {
    return JSON.stringify('€'.repeat(EVENT_MAX_BYTES / 3 + 1));
  }

  test.each(bad)('rejects alone, and its neighbours commit: %s', async (_what, make) => {
    const good = Array.from({ length: 9 }, () => ask());
    const submitted = [...good.slice(0, 4), make(), ...good.slice(4)].map((item) => direct.log.append(item));
    const settled = await Promise.allSettled(submitted);
    const faults = settled
      .map(({ status }, index) => (status === 'rejected' ? index : -1))
      .filter((i) => i >= 0);
    expect(faults).toEqual([4]);
    expect(await countOf(good)).toBe(9);
    expect(settled.map((one) => one.status === 'fulfilled' && one.value.verdict).filter(Boolean)).toEqual(
      Array(9).fill('appended'),
    );
  });

  test('costs its neighbours a few statements, not one each', async () => {
    const query = jest.spyOn(direct.pool, 'query');
    const many = [...Array.from({ length: 255 }, () => note(randomUUID(), 1)), note('\0', 1)];
    const settled = await Promise.allSettled(many.map((item) => direct.log.append(item)));
    const calls = query.mock.calls.filter(([config]) => Object(config).name === 'append_events').length;
    query.mockRestore();
    expect(settled.filter(({ status }) => status === 'rejected')).toHaveLength(1);
    expect(calls).toBeLessThanOrEqual(17);
  });
});

describe('a connection that is cut', () => {
  test('after the commit, before the reply: all of the batch reject, a retry finds what was committed', async () => {
    const items = keyed(5);
    await append(proxied.log, ask());
    proxy.freeze('replies');
    const submitted = Promise.allSettled(items.map((item) => proxied.log.append(item)));
    await eventually(async () => (await countOf(items)) === 5);
    proxy.cut();
    const settled = await submitted;
    proxy.restore();
    expect(settled.map((one) => one.status === 'rejected' && isDatabaseUnavailable(one.reason))).toEqual(
      Array(5).fill(true),
    );
    const retried = await Promise.all(items.map((item) => proxied.log.append(item)));
    expect(retried).toEqual(items.map((item) => ({ verdict: 'replayed', result: item.idempotency?.result })));
  });

  test('before the commit: a retry ends with one event each', async () => {
    const items = keyed(5);
    await append(proxied.log, ask());
    const barrier = await raiseBarrier(database.connection);
    const submitted = Promise.allSettled(items.map((item) => proxied.log.append(item)));
    await barrier.waiting(1);
    proxy.cut();
    expect((await submitted).map(({ status }) => status)).toEqual(Array(5).fill('rejected'));
    const retried = Promise.all(items.map((item) => proxied.log.append(item)));
    await barrier.waiting(2);
    await barrier.release();
    for (const { verdict } of await retried) expect(['appended', 'replayed']).toContain(verdict);
    expect(await countOf(items)).toBe(5);
  });

  test('while nobody waits for it: the next append does not notice', async () => {
    await append(proxied.log, ask());
    proxy.cut();
    await eventually(() => proxied.pool.totalCount === 0);
    await append(proxied.log, ask());
  });
});

describe('a database that is away for a while', () => {
  test('makes appends fail until it is back', async () => {
    proxy.refuse();
    const error = await proxied.log.append(ask()).catch((reason) => reason);
    expect(isDatabaseUnavailable(error)).toBe(true);
    proxy.restore();
    await append(proxied.log, ask());
  });
});

describe('a pool of one connection', () => {
  test('is enough for appends, loads, reads and the tail at once', async () => {
    const narrow = await openLog(database.connection, 1);
    const seen: string[] = [];
    narrow.log.tail.observe((events) => seen.push(...events.map(({ stream }) => stream)));
    const ids = Array.from({ length: 20 }, () => randomUUID());
    const work = ids.map(async (id) => {
      await append(narrow.log, ask(id));
      await narrow.log.load({ tenant: 'acme', id, subject: 'user:ada' });
      await narrow.log.readTenant('acme', { after: 0, limit: 5 });
      return append(narrow.log, answer(id));
    });
    expect(await Promise.all(work)).toHaveLength(20);
    await eventually(() => seen.length >= 40);
    await narrow.stop();
  });
});
