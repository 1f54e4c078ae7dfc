import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.js';
import { append, openLog, type TestLog, tally } from '../../test/support/log.js';
import { ask, idempotency } from '../../test/support/log-entries.js';

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

function keyed(key: string, request: string, result: string) {
  return ask(randomUUID(), { idempotency: idempotency(key, request, result) });
}

describe('an append with an idempotency key', () => {
  test('is replayed with the first result, in this process and in another', async () => {
    const key = randomUUID();
    await append(here.log, keyed(key, 'body', 'first'));
    const replayed = { verdict: 'replayed', result: 'first' };
    expect(await here.log.append(keyed(key, 'body', 'second'))).toEqual(replayed);
    expect(await there.log.append(keyed(key, 'body', 'third'))).toEqual(replayed);
  });

  test('is refused with another request', async () => {
    const key = randomUUID();
    await append(here.log, keyed(key, 'body', 'first'));
    expect(await here.log.append(keyed(key, 'other', 'second'))).toMatchObject({ verdict: 'key_reused' });
  });

  test('is replayed although its version is taken by then and its guard would refuse it', async () => {
    const id = randomUUID();
    const item = ask(id, { idempotency: idempotency(id, 'body', 'first'), guard: { lifetimeMs: 1 } });
    await append(here.log, item);
    const guard = { notAfter: '2000-01-01T00:00:00.000Z' };
    expect(await here.log.append({ ...item, entry: { ...item.entry, guard } })).toMatchObject({
      verdict: 'replayed',
    });
  });

  test('leaves no key behind when it is refused', async () => {
    const key = randomUUID();
    const id = randomUUID();
    await append(here.log, ask(id));
    const refused = ask(id, { idempotency: idempotency(key, 'body', 'refused') });
    expect(await here.log.append(refused)).toMatchObject({ verdict: 'conflict' });
    expect(await here.log.append(keyed(key, 'other', 'fresh'))).toMatchObject({ verdict: 'appended' });
  });

  test('counts as new after 24 hours, and from then on is the one that is replayed', async () => {
    const key = randomUUID();
    await append(here.log, keyed(key, 'body', 'old'));
    const age = `UPDATE idempotency_keys SET at = at - $2::interval WHERE key = $1`;
    await here.pool.query(age, [Buffer.from(key), '23 hours 59 minutes']);
    expect(await here.log.append(keyed(key, 'body', 'young'))).toMatchObject({ verdict: 'replayed' });
    await here.pool.query(age, [Buffer.from(key), '2 minutes']);
    expect(await here.log.append(keyed(key, 'other', 'new'))).toMatchObject({ verdict: 'appended' });
    expect(await here.log.append(keyed(key, 'other', 'late'))).toEqual({
      verdict: 'replayed',
      result: 'new',
    });
  });
});

describe('appends with the same idempotency key at once', () => {
  test('in one batch: the first is appended, a retry of the others finds it', async () => {
    const key = randomUUID();
    const items = [1, 2, 3].map((n) => keyed(key, 'body', `result ${n}`));
    const results = await Promise.all(items.map((item) => here.log.append(item)));
    expect(results.map(({ verdict }) => verdict)).toEqual(['appended', 'conflict', 'conflict']);
    for (const item of items) {
      expect(await here.log.append(item)).toEqual({ verdict: 'replayed', result: 'result 1' });
    }
  });

  test('in one batch with another request: the retry learns that the key was reused', async () => {
    const key = randomUUID();
    const [first, second] = [keyed(key, 'body', 'one'), keyed(key, 'other', 'two')];
    expect(tally(await Promise.all([here.log.append(first), here.log.append(second)]))).toEqual({
      appended: 1,
      conflict: 1,
    });
    expect(await here.log.append(second)).toMatchObject({ verdict: 'key_reused' });
  });

  test('across processes: one event for each key', async () => {
    const keys = Array.from({ length: 30 }, () => randomUUID());
    const submit = (key: string, { log }: TestLog) => log.append(keyed(key, 'body', key));
    const results = await Promise.all(keys.flatMap((key) => [submit(key, here), submit(key, there)]));
    expect(tally(results)).toEqual({ appended: 30, replayed: 30 });
  });

  test('across processes, in two streams and the other way round: somebody always wins', async () => {
    const [key, other] = [randomUUID(), randomUUID()];
    const [stream, second] = [randomUUID(), randomUUID()];
    const item = (id: string, k: string) => ask(id, { idempotency: idempotency(k, 'body', k) });
    const crossed = [item(stream, key), item(second, key), item(second, other), item(stream, other)];
    const results = await Promise.all(crossed.map((one) => here.log.append(one)));
    expect(results.map(({ verdict }) => verdict)).toEqual(['appended', 'conflict', 'appended', 'conflict']);
  });
});
