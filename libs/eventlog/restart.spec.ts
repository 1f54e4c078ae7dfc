import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type EmbeddedServer, startEmbeddedServer } from '../../test/support/embedded-server.js';
import { eventually } from '../../test/support/eventually.js';
import { append, openLog, type TestLog } from '../../test/support/log.js';
import { answer, ask } from '../../test/support/log-entries.js';
import { startProxy, type TcpProxy } from '../../test/support/tcp-proxy.js';
import { connectionSettings } from '../platform/database.js';
import { migrate } from '../platform/migrate.js';
import { migrationsFolder } from './migrations.js';

let server: EmbeddedServer;
let proxy: TcpProxy;
let open: TestLog;

beforeAll(async () => {
  server = await startEmbeddedServer();
  await migrate(server.connection, migrationsFolder);
  // An address that stays the same.
  proxy = await startProxy(server);
  open = await openLog(connectionSettings(proxy.connection));
});
afterAll(async () => {
  await open.stop();
  await proxy.stop();
  await server.stop();
});

describe('a database that is restarted', () => {
  test('is found again by the same log: appends, loads and the tail go on', async () => {
    const seen: string[] = [];
    open.log.tail.observe((events) => seen.push(...events.map(({ id }) => id)));
    const id = randomUUID();
    const asked = await append(open.log, ask(id));
    await server.restart();
    const answered = await eventually(() => append(open.log, answer(id)).catch(() => undefined));
    expect((await open.log.load({ tenant: 'acme', id, subject: 'user:ada' })).question?.version).toBe(2);
    await eventually(() => seen.length === 2 && !open.log.tail.failing);
    expect(seen).toEqual([asked.id, answered?.id]);
  });

  test('loses nothing that it has acknowledged', async () => {
    const writing: Promise<string | undefined>[] = [];
    const write = async () => (await append(open.log, ask())).stream;
    const restarted = server.restart();
    for (let turn = 0; turn < 200; turn += 1) {
      writing.push(write().catch(() => undefined));
      await new Promise(setImmediate);
    }
    await restarted;
    const acknowledged = (await Promise.all(writing)).filter((stream) => stream !== undefined);
    await eventually(() => write().catch(() => undefined));
    const { rows } = await open.pool.query('SELECT count(*)::int FROM events WHERE stream = ANY($1)', [
      acknowledged,
    ]);
    expect(rows).toEqual([{ count: acknowledged.length }]);
  });
});
