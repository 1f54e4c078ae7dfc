import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.js';
import { eventually } from '../../test/support/eventually.js';
import { startProxy } from '../../test/support/tcp-proxy.js';
import { LogListener } from './listener.js';

let database: TestDatabase;
let other: TestDatabase;

beforeAll(async () => {
  [database, other] = await Promise.all([createTestDatabase(), createTestDatabase()]);
});
afterAll(async () => {
  await Promise.all([database.drop(), other.drop()]);
});

async function listen({ connection }: Pick<TestDatabase, 'connection'>): Promise<LogListener> {
  const listener = new LogListener(connection);
  await listener.start(() => {});
  return listener;
}

describe('a listener', () => {
  test('does not take itself for alone before it knows', () => {
    expect(new LogListener(database.connection).alone).toBe(false);
  });

  test('is alone until a peer joins, and again when it has left', async () => {
    const first = await listen(database);
    expect(first.alone).toBe(true);
    const peer = await listen(database);
    expect(peer.alone).toBe(false);
    // Told by the peer: it does not count again before two seconds have passed.
    await eventually(() => !first.alone, 1_000);
    await peer.stop();
    await eventually(() => first.alone);
    await first.stop();
  });

  test('has no peers in another database', async () => {
    const listeners = [await listen(database), await listen(other)];
    expect(listeners.map(({ alone }) => alone)).toEqual([true, true]);
    await Promise.all(listeners.map((listener) => listener.stop()));
  });

  test('is not alone while it is cut off, and wakes its reader when it is back', async () => {
    const proxy = await startProxy(database);
    let woken = 0;
    const listener = new LogListener(proxy.connection);
    await listener.start(() => {
      woken += 1;
    });
    proxy.refuse();
    await eventually(() => !listener.connected);
    expect(listener.alone).toBe(false);
    const before = woken;
    proxy.restore();
    await eventually(() => listener.connected && listener.alone);
    expect(woken).toBeGreaterThan(before);
    await listener.stop();
    await proxy.stop();
  });

  test('that is stopped while it reconnects leaves no connection behind', async () => {
    const proxy = await startProxy(database);
    const listener = await listen(proxy);
    proxy.freeze('replies');
    proxy.cut();
    await eventually(() => proxy.open === 1);
    await listener.stop();
    proxy.restore();
    await eventually(() => proxy.open === 0);
    await proxy.stop();
  });
});
