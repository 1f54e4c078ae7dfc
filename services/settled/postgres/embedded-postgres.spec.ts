import { readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { PreparedCluster } from './testing/prepared-cluster.js';
import { messageOf, processExists, query, Scratch, serverPid, until } from './testing/scratch.js';

describe('An embedded PostgreSQL', () => {
  let prepared: PreparedCluster;
  beforeAll(async () => {
    prepared = await PreparedCluster.make();
  });
  afterAll(() => prepared.remove());

  let scratch: Scratch;
  beforeEach(async () => {
    scratch = await Scratch.create();
  });
  afterEach(() => scratch.remove());

  it('keeps what was written from one start to the next', async () => {
    const first = await scratch.start(scratch.path);
    await query(first.connection, `CREATE TABLE kept AS SELECT 'Zoë' AS name, upper('zoë') AS loud`);
    await first.stop();

    const second = await scratch.start(scratch.path);
    expect(await query(second.connection, 'SELECT * FROM kept')).toEqual([{ name: 'Zoë', loud: 'ZOË' }]);
  });

  it('is ready soon, and sooner when the data directory exists', async () => {
    const startedAt = performance.now();
    await (await scratch.start(scratch.path)).stop();
    const againAt = performance.now();
    await scratch.start(scratch.path);
    const [first, again] = [againAt - startedAt, performance.now() - againAt];
    // Wide, because the machine may be busy: they catch a wait that somebody builds in.
    expect(first).toBeLessThan(6_000);
    expect(again).toBeLessThan(900);
  });

  it('is durable, opens no network port and logs no statement, whatever its configuration file says', async () => {
    await prepared.copyTo(scratch.path);
    const first = await scratch.start(scratch.path);
    for (const setting of ["fsync = 'off'", "synchronous_commit = 'off'", "listen_addresses = '*'"]) {
      await query(first.connection, `ALTER SYSTEM SET ${setting}`);
    }
    await first.stop();

    const { connection } = await scratch.start(scratch.path);
    const names = [
      'fsync',
      'synchronous_commit',
      'full_page_writes',
      'listen_addresses',
      'log_statement',
      'jit',
    ];
    const values = await query(
      connection,
      `SELECT name, setting FROM pg_settings WHERE name IN ('${names.join("','")}')`,
    );
    expect(Object.fromEntries(values.map((row) => [row.name, row.setting]))).toEqual({
      fsync: 'on',
      synchronous_commit: 'on',
      full_page_writes: 'on',
      listen_addresses: '',
      log_statement: 'none',
      jit: 'off',
    });
  });

  it('takes settings from its caller', async () => {
    await prepared.copyTo(scratch.path);
    const { connection } = await scratch.start(scratch.path, { settings: { max_connections: '17' } });
    expect(await query(connection, 'SHOW max_connections')).toEqual([{ max_connections: '17' }]);
  });

  it('lives in a path with spaces that is too long for a socket, and answers in a private directory', async () => {
    const dataDir = join(scratch.path, "it's a path", 'with spaces and $HOME '.repeat(6).trim());
    expect(Buffer.byteLength(dataDir)).toBeGreaterThan(107);
    const { connection } = await scratch.start(dataDir);

    expect(await query(connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    const sockets = await stat(connection.host);
    expect(sockets.mode & 0o777).toBe(0o700);
    expect(sockets.uid).toBe((await stat(join(dataDir, 'postgres'))).uid);
  });

  it('leaves nothing behind when it stops', async () => {
    await prepared.copyTo(scratch.path);
    const server = await scratch.start(scratch.path);
    const pid = await serverPid(scratch.path);
    await server.stop();
    await server.stop();

    expect(processExists(pid)).toBe(false);
    expect(await messageOf(stat(server.connection.host))).toMatch(/ENOENT/);
  });

  it('puts a log aside that has become long', async () => {
    await prepared.copyTo(scratch.path);
    const log = join(scratch.path, 'postgres.log');
    await writeFile(log, 'old');
    await truncate(log, 11 * 1024 * 1024);
    await scratch.start(scratch.path);
    expect((await stat(`${log}.1`)).size).toBe(11 * 1024 * 1024);
    expect(await readFile(log, 'utf8')).toMatch(/ready to accept connections/);
  });

  it('runs twice at once in two directories, while somebody else has port 5432', async () => {
    const port = createServer();
    port.on('error', () => undefined).listen(5432);
    scratch.atEnd(() => port.close());
    const both = await Promise.all(['one', 'two'].map((name) => scratch.start(join(scratch.path, name))));

    for (const { connection } of both) await query(connection, 'CREATE TABLE mine (id int)');
    expect(new Set(both.map(({ connection }) => connection.host)).size).toBe(2);
  });

  it('tells when the server is gone, and starts again in the same process with all that was committed', async () => {
    await prepared.copyTo(scratch.path);
    const first = await scratch.start(scratch.path);
    await query(first.connection, 'CREATE TABLE kept AS SELECT 7 AS number');
    process.kill(await serverPid(scratch.path), 'SIGKILL');
    await first.exited;

    const second = await scratch.start(scratch.path);
    expect(await query(second.connection, 'SELECT number FROM kept')).toEqual([{ number: 7 }]);
    // The first one's end is not the second one's.
    await first.stop();
    expect(await query(second.connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('does not call an ordered stop an exit', async () => {
    await prepared.copyTo(scratch.path);
    const server = await scratch.start(scratch.path);
    let exited = false;
    void server.exited.then(() => {
      exited = true;
    });
    await server.stop();
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(exited).toBe(false);
  });

  it('stays ours when one of its processes crashes and it restarts them', async () => {
    await prepared.copyTo(scratch.path);
    const server = await scratch.start(scratch.path);
    const claims = `SELECT pid FROM pg_stat_activity WHERE application_name = 'settled directory claim'`;
    const [before] = await query(server.connection, claims);
    process.kill(before?.pid as number, 'SIGKILL');

    await until(async () => {
      const [after] = await query(server.connection, claims).catch(() => []);
      return after !== undefined && after.pid !== before?.pid;
    });
    expect(await messageOf(scratch.start(scratch.path))).toMatch(/in use by another running Settled/);
    expect(await query(server.connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });
});
