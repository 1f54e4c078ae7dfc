import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { identifyDirectory } from './data-directory.js';
import { isServerOf } from './server-process.js';
import { stopServer } from './stop-server.js';
import { HostProcess } from './testing/host-process.js';
import { PreparedCluster } from './testing/prepared-cluster.js';
import { processExists, query, Scratch, serverPid, until } from './testing/scratch.js';

describe('After a crash', () => {
  let prepared: PreparedCluster;
  beforeAll(async () => {
    prepared = await PreparedCluster.make();
  });
  afterAll(() => prepared.remove());

  let scratch: Scratch;
  beforeEach(async () => {
    scratch = await Scratch.create();
    await prepared.copyTo(scratch.path);
  });
  afterEach(() => scratch.remove());

  const pidFile = () => join(scratch.path, 'postgres', 'postmaster.pid');

  /** A server that was killed with its file left behind; returns what the file says. */
  async function leaveFile(): Promise<string> {
    const server = await scratch.start(scratch.path);
    process.kill(await serverPid(scratch.path), 'SIGKILL');
    await server.exited;
    return readFile(pidFile(), 'utf8');
  }

  async function putFile(text: string): Promise<void> {
    const { uid, gid } = await stat(join(scratch.path, 'postgres'));
    await writeFile(pidFile(), text, { mode: 0o600 });
    await chown(pidFile(), uid, gid);
  }

  /** A process of the server's account that has nothing to do with it. */
  async function stranger(command: string): Promise<ChildProcess> {
    const { uid, gid } = await stat(join(scratch.path, 'postgres'));
    const child = spawn('sh', ['-c', command], { uid, gid, cwd: '/', stdio: ['ignore', 'pipe', 'ignore'] });
    scratch.atEnd(() => child.kill('SIGKILL'));
    await once(child, 'spawn');
    return child;
  }

  async function expectFreshStart(abandoned: string): Promise<void> {
    const { connection } = await scratch.start(scratch.path);
    expect(await query(connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    const sockets = abandoned.split('\n')[4] ?? '';
    expect(sockets).toMatch(/settled-socket-/);
    expect(await stat(sockets).catch((error) => error.code)).toBe('ENOENT');
    expect(scratch.lines.at(-2)).toMatch(/ended without a shutdown; recovering/);
  }

  it('a file that names a dead process is no server', async () => {
    await expectFreshStart(await leaveFile());
  });

  it('a file that names a live process of somebody else is no server', async () => {
    const left = await leaveFile();
    const other = await stranger('exec sleep 60');
    await putFile(left.replace(/^\d+/, String(other.pid)));
    await expectFreshStart(left);
    expect(processExists(other.pid ?? 0)).toBe(true);
  });

  it('a file that names a zombie is no server', async () => {
    const left = await leaveFile();
    // The shell has become a sleeper, which never asks what became of its child, by the time that the child ends.
    const parent = await stranger('sleep 0.5 & echo $!; exec sleep 60');
    const [line] = parent.stdout === null ? [''] : await once(parent.stdout, 'data');
    const zombie = Number.parseInt(String(line), 10);
    await until(async () => (await readFile(`/proc/${zombie}/stat`, 'utf8')).includes(') Z '));
    await putFile(left.replace(/^\d+/, String(zombie)));
    await expectFreshStart(left);
  });

  it('a file that stayed empty is no server', async () => {
    await leaveFile();
    await putFile('');
    const before = new Date(Date.now() - 60_000);
    await utimes(pidFile(), before, before);
    const { connection } = await scratch.start(scratch.path);
    expect(await query(connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('the start waits for processes of the dead server that are still at work', async () => {
    const server = await scratch.start(scratch.path);
    const client = new pg.Client(server.connection);
    client.on('error', () => undefined);
    await client.connect();
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const straggler = rows[0]?.pid ?? 0;
    process.kill(straggler, 'SIGSTOP');
    process.kill(await serverPid(scratch.path), 'SIGKILL');
    await server.exited;

    let started = false;
    const next = scratch.start(scratch.path).then(() => {
      started = true;
    });
    const log = join(scratch.path, 'postgres.log');
    await until(async () => / F0001 FATAL/.test(await readFile(log, 'utf8')));
    expect(started).toBe(false);
    process.kill(straggler, 'SIGCONT');
    await next;
    await until(() => !processExists(straggler));
  });

  it('of the making of the data directory, the next start makes it anew', async () => {
    const dataDir = join(scratch.path, 'data');
    const interrupted = new HostProcess(dataDir);
    await until(async () => {
      const entries = await readdir(dataDir).catch(() => []);
      const unfinished = entries.find((name) => name.startsWith('postgres.new-')) ?? 'none yet';
      return (await readdir(join(dataDir, unfinished, 'base', '1')).catch(() => [])).length > 50;
    });
    interrupted.signal('SIGKILL');
    await interrupted.exited;
    expect((await readdir(dataDir)).sort()).toEqual([
      'postgres.log',
      expect.stringMatching(/^postgres\.new-/),
    ]);

    const { connection } = await scratch.start(dataDir);
    expect(await query(connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect((await readdir(dataDir)).sort()).toEqual(['postgres', 'postgres.log']);
  });

  it('of nothing but patience: a server that does not end in order is ended at once', async () => {
    const server = await scratch.start(scratch.path);
    const [backend] = await query(
      server.connection,
      `SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'`,
    );
    process.kill(backend?.pid as number, 'SIGSTOP');
    const pid = await serverPid(scratch.path);

    const directory = await identifyDirectory(join(scratch.path, 'postgres'), undefined);
    await stopServer(pid, directory, 200);
    expect(await isServerOf(pid, directory)).toBe(false);
    // Until its parent asks what became of it, its number is still taken.
    await server.exited;
    expect(processExists(pid)).toBe(false);
    expect(await readFile(join(scratch.path, 'postgres.log'), 'utf8')).toMatch(
      /received immediate shutdown request/,
    );
  });
});
