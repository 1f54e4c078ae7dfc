import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from '../embedded-postgres.js';

/** A folder and servers that end with the test. */
export class Scratch {
  readonly lines: string[] = [];
  readonly #servers: EmbeddedPostgres[] = [];
  readonly #clean: (() => unknown)[] = [];

  private constructor(readonly path: string) {}

  static async create(): Promise<Scratch> {
    const path = await mkdtemp(join(tmpdir(), 'settled-postgres-test-'));
    // Other accounts come through here, as they do through most folders.
    await chmod(path, 0o755);
    return new Scratch(path);
  }

  async start(dataDir: string, options: Partial<EmbeddedPostgresOptions> = {}): Promise<EmbeddedPostgres> {
    const server = await startEmbeddedPostgres({ dataDir, log: (line) => this.lines.push(line), ...options });
    this.#servers.push(server);
    return server;
  }

  atEnd(action: () => unknown): void {
    this.#clean.unshift(action);
  }

  async remove(): Promise<void> {
    for (const action of this.#clean) await action();
    for (const server of this.#servers) await server.stop();
    await rm(this.path, { recursive: true, force: true });
  }
}

export type Row = Record<string, unknown>;

export async function query(connection: EmbeddedPostgres['connection'], sql: string): Promise<Row[]> {
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: 5_000, query_timeout: 10_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

export async function serverPid(dataDir: string): Promise<number> {
  return Number.parseInt(await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8'), 10);
}

export function messageOf(start: Promise<unknown>): Promise<string> {
  return start.then(
    () => 'no error',
    (error: Error) => error.message,
  );
}

export async function until(condition: () => boolean | Promise<boolean>, limitMs = 20_000): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`not within ${limitMs} ms: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

export function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
