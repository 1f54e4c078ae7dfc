import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { raiseBarrier } from '../../test/support/barrier.js';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.js';
import { eventually } from '../../test/support/eventually.js';
import { append, openLog, positionsSeenBy, type TestLog, upTo, write } from '../../test/support/log.js';
import { answer, ask } from '../../test/support/log-entries.js';
import type { LoggedEvent } from './entry.js';

const INSERT_UNCOMMITTED = `INSERT INTO events SELECT coalesce(max(position), 0) + 1, gen_random_uuid(), 'acme', $1, 1,
  'slow', 1, '{}', now(), 'test', 'test', '' FROM events`;

let database: TestDatabase;
let reader: TestLog;
let writer: TestLog;

beforeEach(async () => {
  database = await createTestDatabase();
  reader = await openLog(database.connection);
  writer = await openLog(database.connection);
});
afterEach(async () => {
  await Promise.all([reader.stop(), writer.stop()]);
  await database.drop();
});

describe('the tail', () => {
  test('tells of own events and of those of others, in order and once each', async () => {
    const seen = [positionsSeenBy(reader), positionsSeenBy(writer)];
    for (let burst = 0; burst < 10; burst += 1) await Promise.all([write(20, reader), write(20, writer)]);
    await eventually(() => seen.every((positions) => positions.length >= 400));
    expect(seen).toEqual([upTo(400), upTo(400)]);
  });

  test('tells of own events before their append resolves', async () => {
    const seen = positionsSeenBy(reader);
    await write(1, reader);
    const { position } = await append(reader.log, ask());
    expect(seen).toEqual([1, 2]);
    expect(position).toBe(2);
  });

  test('tells the same of an event, whoever wrote it', async () => {
    const seen: LoggedEvent[] = [];
    reader.log.tail.observe((events) => seen.push(...events));
    const id = randomUUID();
    const written = [await append(writer.log, ask(id)), await append(writer.log, answer(id))];
    await eventually(() => seen.length === 2);
    // The view of the first may have moved on by the time it is read.
    const envelope = seen[0]?.envelope ?? null;
    expect(seen).toEqual([{ ...written[0], envelope }, written[1]]);
  });

  test('never skips an event of a writer that is slow to commit', async () => {
    const seen = positionsSeenBy(reader);
    const slow = await raiseBarrier(database.connection);
    await slow.client.query(INSERT_UNCOMMITTED, ['question:01939a4e-0000-7000-8000-000000000001']);
    const others = Promise.all([write(3, writer), write(2, reader)]);
    await slow.waiting(2);
    const query = jest.spyOn(reader.pool, 'query');
    const looks = () => query.mock.calls.filter(([config]) => Object(config).name === 'read_all').length;
    await eventually(() => looks() >= 3);
    expect(seen).toEqual([]);
    await slow.release();
    await others;
    await eventually(() => seen.length >= 6);
    expect(seen).toEqual(upTo(6));
  });

  test('does not wait for a writer that gives up', async () => {
    const seen = positionsSeenBy(reader);
    const slow = await raiseBarrier(database.connection);
    await slow.client.query(INSERT_UNCOMMITTED, ['question:01939a4e-0000-7000-8000-000000000001']);
    const others = write(3, writer);
    await slow.waiting(1);
    await slow.abandon();
    await others;
    await eventually(() => seen.length >= 3);
    expect(seen).toEqual([1, 2, 3]);
  });

  test('starts at the head, and reads what was before on demand, from memory or not', async () => {
    await write(5, writer);
    const late = await openLog(database.connection);
    const seen = positionsSeenBy(late);
    expect(late.log.tail.position).toBe(5);
    await write(5, writer);
    await eventually(() => seen.length === 5);
    expect(seen).toEqual([6, 7, 8, 9, 10]);
    const positions = async (after: number) =>
      (await late.log.tail.read(after, 3)).map(({ position }) => position);
    expect(await positions(0)).toEqual([1, 2, 3]);
    expect(await positions(4)).toEqual([5, 6, 7]);
    expect(await positions(5)).toEqual([6, 7, 8]);
    expect(await positions(9)).toEqual([10]);
    expect(await positions(10)).toEqual([]);
    await late.stop();
  });

  test('catches up with more than one read takes', async () => {
    const seen = positionsSeenBy(reader);
    await writer.pool.query(`INSERT INTO events SELECT n, gen_random_uuid(), 'acme', 'bulk:' || n, 1, 'noted', 1, '{}',
      now(), 'test', 'test', '' FROM generate_series(1, 2500) n`);
    await eventually(() => seen.length >= 2500);
    expect(seen).toEqual(upTo(2500));
  });

  test('tells nobody who has left', async () => {
    const seen: number[] = [];
    const leave = reader.log.tail.observe((events) => seen.push(events.length));
    await write(1, reader);
    leave();
    await write(1, reader);
    expect(seen).toEqual([1]);
  });
});
