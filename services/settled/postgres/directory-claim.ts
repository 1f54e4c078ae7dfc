import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { PostmasterFile } from './postmaster-file.js';
import { DATABASE_NAME, DATABASE_USER } from './server-settings.js';

/** 'settled' in bytes: far from the small numbers that an application chooses. */
const CLAIM_LOCK = 0x73_65_74_74_6c_65_64n;
const CONNECT_TIMEOUT_MS = 5_000;
const QUERY_TIMEOUT_MS = 5_000;
/** The server needs a moment to notice that a killed process has let go of its connection. */
const CLAIM_PATIENCE_MS = 1_000;
const RETRY_MS = 20;

export interface Claim {
  /** Resolves when the claim is lost, with the connection that holds it. */
  readonly ended: Promise<void>;
  release(): Promise<void>;
}

/**
 * Claims the server's directory for this process: a session lock on a connection of its own, so the claim ends with
 * the process however that ends, and one server has one owner. Undefined means that another live process has it.
 * Rejects if the server cannot be reached.
 */
export async function claimServer(server: PostmasterFile): Promise<Claim | undefined> {
  const client = new pg.Client({
    host: server.socketDirectory,
    port: server.port,
    user: DATABASE_USER,
    database: DATABASE_NAME,
    application_name: 'settled directory claim',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
  });
  const ended = new Promise<void>((resolve) => {
    client.once('end', resolve);
    // Its end follows and is what matters.
    client.on('error', () => undefined);
  });
  await client.connect();
  if (await lockWithin(client, CLAIM_PATIENCE_MS)) return { ended, release: () => client.end() };
  await client.end();
  return undefined;
}

async function lockWithin(client: pg.Client, limitMs: number): Promise<boolean> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const { rows } = await client.query<{ claimed: boolean }>('SELECT pg_try_advisory_lock($1) AS claimed', [
      CLAIM_LOCK,
    ]);
    if (rows[0]?.claimed === true) return true;
    if (performance.now() > deadline) return false;
    await delay(RETRY_MS);
  }
}
