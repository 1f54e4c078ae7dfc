import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { connectionSettings } from '../../libs/platform/database.js';
import { SERVER_VARIABLE, type TestServer } from './postgres-server.js';

export interface TestDatabase {
  readonly connection: pg.ClientConfig;
  /** The same as a URL, for processes that are told by their environment. */
  readonly url: string;
  /** Removes the database; whoever is still connected is cut off. */
  drop(): Promise<void>;
}

/** A database of the caller's own with the schema of the log in it; `empty` leaves the schema out. */
export async function createTestDatabase({ empty = false } = {}): Promise<TestDatabase> {
  const { connection, template } = testServer();
  const name = `settled_${process.pid}_${randomBytes(6).toString('hex')}`;
  await asAdministrator(connection, `CREATE DATABASE ${name} TEMPLATE ${empty ? 'template1' : template}`);
  const own = { ...connection, database: name };
  return {
    connection: connectionSettings(own),
    url: urlOf(own),
    drop: () => asAdministrator(connection, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}

function testServer(): TestServer {
  const server = process.env[SERVER_VARIABLE];
  if (server === undefined) throw new Error('There is no PostgreSQL for tests');
  return JSON.parse(server) as TestServer;
}

function urlOf({ host, port, user, password, database }: pg.ClientConfig): string {
  const secret = typeof password === 'string' ? `:${encodeURIComponent(password)}` : '';
  const who = `${encodeURIComponent(user ?? '')}${secret}`;
  if (host?.startsWith('/'))
    return `postgresql://${who}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`;
  return `postgresql://${who}@${host}:${port}/${database}`;
}

async function asAdministrator(connection: pg.ClientConfig, sql: string): Promise<void> {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
