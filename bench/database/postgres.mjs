import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { serverAccount } from './account.mjs';
import { postgresBinaries } from './binaries.mjs';

const START_TIMEOUT_MS = 30_000;
const INITDB_TIMEOUT_MS = 60_000;

/** What Settled gives its own PostgreSQL, so that durability and tuning are the same for all. */
const SETTINGS = {
  listen_addresses: '',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  shared_buffers: '128MB',
  max_connections: '100',
  max_parallel_workers_per_gather: '0',
  jit: 'off',
  wal_compression: 'on',
  checkpoint_timeout: '15min',
  max_wal_size: '1GB',
  min_wal_size: '256MB',
  timezone: 'UTC',
};

/**
 * A PostgreSQL of the caller's own below `directory`, made when there is none yet, reached through a Unix
 * socket. A child of this process. Resolves with `{host, port, user, database, stop}` when it takes connections.
 */
export async function startPostgres(directory) {
  const account = serverAccount();
  const native = postgresBinaries(directory, account);
  const [data, sockets] = [join(directory, 'data'), join(directory, 's')];
  if (!existsSync(data)) {
    for (const folder of [data, sockets]) makeFolder(folder, account);
    await initialise(native, data, account);
  }
  const server = await start(native, { data, sockets, account });
  return { host: sockets, port: 5432, user: 'postgres', database: 'postgres', stop: () => stop(server) };
}

/** The same over a cluster that another program made and has stopped; `sockets` is made below `directory`. */
export async function startPostgresOver({ data, directory, user }) {
  const { uid, gid } = statSync(data);
  const account = process.getuid() === 0 ? { uid, gid } : {};
  const sockets = join(directory, 's');
  makeFolder(sockets, account);
  const server = await start(postgresBinaries(directory, account), { data, sockets, account });
  return { host: sockets, port: 5432, user, database: 'postgres', stop: () => stop(server) };
}

function makeFolder(folder, account) {
  mkdirSync(folder, { mode: 0o700 });
  if (account.uid !== undefined) chownSync(folder, account.uid, account.gid);
}

async function initialise(native, data, account) {
  const args = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-instructions'];
  await promisify(execFile)(join(native, 'bin', 'initdb'), args, {
    ...account,
    cwd: '/',
    timeout: INITDB_TIMEOUT_MS,
  });
}

async function start(native, { data, sockets, account }) {
  const settings = Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const server = spawn(join(native, 'bin', 'postgres'), ['-D', data, '-k', sockets, ...settings], {
    ...account,
    cwd: '/',
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await readiness(server);
  return server;
}

function readiness(server) {
  return new Promise((resolve, reject) => {
    let log = '';
    const timer = setTimeout(
      () => reject(new Error(`PostgreSQL was not ready in time\n${log}`)),
      START_TIMEOUT_MS,
    );
    server.once('error', reject);
    server.once('exit', (code) => reject(new Error(`PostgreSQL ended with ${code}\n${log}`)));
    server.stderr.setEncoding('utf8').on('data', (chunk) => {
      if (log === null) return;
      log += chunk;
      if (!log.includes('ready to accept connections')) return;
      log = null;
      clearTimeout(timer);
      resolve();
    });
  });
}

async function stop(server) {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const exited = once(server, 'exit');
  // SIGINT is PostgreSQL's fast shutdown: connections are cut, what was committed is kept.
  server.kill('SIGINT');
  await exited;
}
