import { randomBytes } from 'node:crypto';
import pg from 'pg';
// From the files themselves: the whole run waits for this, and for no more than it needs.
import { migrationsFolder } from '../../libs/eventlog/migrations.js';
import { migrate } from '../../libs/platform/migrate.js';
import { locatePackage } from '../../services/settled/postgres/server-binaries.js';
import { startEmbeddedServer } from './embedded-server.js';

const IMAGE = 'postgres:18-alpine';
const PORT = 5432;
const MAX_CONNECTIONS = '200';
// Nothing in a test's database outlives the run.
const FAST = { fsync: 'off', full_page_writes: 'off' };

/** Where workers find the server: environment variables reach them, memory does not. */
export const SERVER_VARIABLE = 'SETTLED_TEST_SERVER';

export interface TestServer {
  readonly connection: pg.ClientConfig;
  /** A migrated database that nobody is connected to. */
  readonly template: string;
}

interface Started {
  readonly what: string;
  readonly connection: pg.ClientConfig;
  stop(): Promise<void>;
}

let started: Started | undefined;
const template = `settled_template_${randomBytes(6).toString('hex')}`;

/** One PostgreSQL for the whole run: the one that is given, or a container, or the embedded binaries. */
export async function startForAllTests(): Promise<void> {
  started = (await given()) ?? (await container()) ?? (await embedded());
  if (started === undefined) {
    const message = 'No PostgreSQL for tests: no DATABASE_URL, no Docker engine, no embedded binaries';
    if (process.env.CI) throw new Error(message);
    process.stderr.write(`${message}\n`);
    return;
  }
  process.stderr.write(`PostgreSQL for tests: ${started.what}\n`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, interrupted);
  try {
    await statement(started.connection, `CREATE DATABASE ${template}`);
    await migrate({ ...started.connection, database: template }, migrationsFolder);
  } catch (error) {
    // No teardown follows a setup that fails.
    await started.stop();
    throw error;
  }
  const server: TestServer = { connection: started.connection, template };
  process.env[SERVER_VARIABLE] = JSON.stringify(server);
}

export async function stopAfterAllTests(): Promise<void> {
  await started?.stop();
}

/** A run that is interrupted skips its teardown, and the server would outlive it. */
function interrupted(signal: NodeJS.Signals): void {
  started?.stop().finally(() => process.kill(process.pid, signal));
}

async function given(): Promise<Started | undefined> {
  const url = process.env.TEST_DATABASE_URL || process.env.DATABASE_URL;
  if (!url) return undefined;
  const client = new pg.Client(url);
  await client.connect();
  const { host, port, user, database, password, ssl } = client;
  await client.end();
  const connection = { host, port, user, database, password, ssl } as pg.ClientConfig;
  // A server of our own takes everything with it; this one stays.
  return {
    what: `${host}:${port} (from the environment)`,
    connection,
    stop: () => statement(connection, `DROP DATABASE IF EXISTS ${template} WITH (FORCE)`),
  };
}

async function container(): Promise<Started | undefined> {
  const { GenericContainer, getContainerRuntimeClient, Wait } = await import('testcontainers');
  try {
    await getContainerRuntimeClient();
  } catch {
    return undefined;
  }
  const settings = Object.entries({ ...FAST, max_connections: MAX_CONNECTIONS });
  const running = await new GenericContainer(IMAGE)
    .withEnvironment({ POSTGRES_PASSWORD: 'settled' })
    .withCommand(['postgres', ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])])
    .withExposedPorts(PORT)
    // The image starts the server twice: first for itself, then for others.
    .withWaitStrategy(Wait.forLogMessage(/ready to accept connections/, 2))
    .start();
  const where = { host: running.getHost(), port: running.getMappedPort(PORT) };
  const connection = { ...where, user: 'postgres', password: 'settled', database: 'postgres' };
  return { what: `${IMAGE} in a container`, connection, stop: async () => void (await running.stop()) };
}

async function embedded(): Promise<Started | undefined> {
  try {
    await locatePackage();
  } catch {
    return undefined;
  }
  const server = await startEmbeddedServer({ ...FAST, max_connections: MAX_CONNECTIONS });
  return { what: 'embedded binaries', connection: server.connection, stop: () => server.stop() };
}

async function statement(connection: pg.ClientConfig, sql: string): Promise<void> {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
