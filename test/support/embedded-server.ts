import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { startEmbeddedPostgres } from '../../services/settled/postgres/embedded-postgres.js';

export interface EmbeddedServer {
  /** Another one after each restart. */
  readonly connection: pg.ClientConfig;
  /** Takes the server down, cutting every connection, and brings it up again on the same data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** A PostgreSQL of the caller's own in a temporary folder. Rejects where no binaries are installed. */
export async function startEmbeddedServer(settings: Record<string, string> = {}): Promise<EmbeddedServer> {
  const dataDir = await mkdtemp(join(tmpdir(), 'settled-test-'));
  const start = () => startEmbeddedPostgres({ dataDir, settings, log: () => {} });
  let server = await start();
  return {
    get connection() {
      return server.connection;
    },
    restart: async () => {
      await server.stop();
      server = await start();
    },
    stop: async () => {
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
