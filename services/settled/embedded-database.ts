import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { connectionSettings, type Logger } from '#platform';
import { startEmbeddedPostgres } from './postgres/embedded-postgres.js';

const RESTART_PAUSE_MS = 500;

/** The embedded server, started again whenever it dies by itself. */
export class EmbeddedDatabase {
  /** How to connect. Its values change when the server is started again: who opens a connection reads them then. */
  readonly connection: pg.ClientConfig = {};
  readonly #options: { readonly dataDir: string; readonly log: (line: string) => void };
  #server: Awaited<ReturnType<typeof startEmbeddedPostgres>> | undefined;
  #stopping = false;

  constructor(
    dataDir: string,
    private readonly logger: Logger,
  ) {
    this.#options = { dataDir, log: (line) => logger.info(line) };
  }

  /** `moved` is called with the new settings after each restart. */
  async start(moved: (connection: pg.ClientConfig) => void): Promise<void> {
    const server = await startEmbeddedPostgres(this.#options);
    this.#server = server;
    Object.assign(this.connection, connectionSettings(server.connection));
    moved(this.connection);
    void server.exited.then(() => this.#restart(moved));
    if (this.#stopping) await server.stop();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#server?.stop();
  }

  async #restart(moved: (connection: pg.ClientConfig) => void): Promise<void> {
    while (!this.#stopping) {
      try {
        return await this.start(moved);
      } catch (error) {
        this.logger.error(
          { error: String(error) },
          'PostgreSQL could not be started again; trying once more',
        );
        await pause(RESTART_PAUSE_MS);
      }
    }
  }
}
