import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.js';
import { eventually } from '../../test/support/eventually.js';
import { openLog, positionsSeenBy, type TestLog, upTo, write } from '../../test/support/log.js';
import { startProxy } from '../../test/support/tcp-proxy.js';
import { createPool } from '../platform/database.js';
import { EventLog } from './event-log.js';

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

describe('a tail that hears nothing', () => {
  test('polls while its listener is cut off, and hears again when it is back', async () => {
    const proxy = await startProxy(database);
    const pool = createPool(database.connection, 2);
    const deaf = new EventLog({ pool, connection: proxy.connection });
    await deaf.start();
    const seen = positionsSeenBy({ log: deaf });
    proxy.refuse();
    await write(10, writer);
    await eventually(() => seen.length >= 10);
    expect(proxy.open).toBe(0);
    proxy.restore();
    await eventually(() => proxy.open === 1);
    await write(10, writer);
    await eventually(() => seen.length >= 20);
    expect(seen).toEqual(upTo(20));
    await deaf.stop();
    await pool.end();
    await proxy.stop();
  });

  test('loses nothing when the server ends its listener', async () => {
    const seen = positionsSeenBy(reader);
    const end = `SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_database d ON d.oid = database
      WHERE locktype = 'advisory' AND objid = 2 AND datname = current_database()`;
    for (let burst = 0; burst < 5; burst += 1) {
      await Promise.all([write(10, writer), writer.pool.query(end), write(10, reader)]);
    }
    await eventually(() => seen.length >= 100);
    expect(seen).toEqual(upTo(100));
  });
});

describe('a process that appends', () => {
  test('notifies when others tail the log, and does not when it is alone', async () => {
    const ear = new pg.Client(database.connection);
    await ear.connect();
    await ear.query('LISTEN settled_log');
    let heard = 0;
    ear.on('notification', ({ payload }) => {
      heard += payload === '' ? 1 : 0;
    });
    await write(3, writer);
    await eventually(() => heard >= 1);

    await reader.stop();
    // Until the next count of peers it may still notify.
    await eventually(async () => {
      await ear.query('SELECT 1');
      const before = heard;
      await write(3, writer);
      await ear.query('SELECT 1');
      return heard === before;
    });
    await ear.end();
    reader = await openLog(database.connection);
  });
});
