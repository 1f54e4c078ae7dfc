import { createHash } from 'node:crypto';
import pg from 'pg';

/** A session that is silent for longer is ended by the server: who holds the lock and is stopped in its tracks loses it. */
const LEASE_SECONDS = 10;
const SIGN_OF_LIFE_MS = 3_000;
const SET_LEASE = `SET idle_session_timeout = '${LEASE_SECONDS}s'`;
const TAKE = 'SELECT pg_try_advisory_lock($1::bigint) AS taken';

/**
 * Decides which member of a group is active: the one whose session holds the group's advisory lock. It has a connection of
 * its own, which a standby keeps as well; when that breaks, or is silent for too long, the lock is gone, and the member has
 * to take it again.
 */
export class GroupLock {
  readonly #key: string;
  #client: pg.Client | undefined;
  #lost = new AbortController();

  constructor(
    private readonly settings: pg.ClientConfig,
    group: string,
  ) {
    this.#key = createHash('sha256').update(`settled.bus:${group}`).digest().readBigInt64BE().toString();
  }

  /** Undefined when another member is active; else a signal that is aborted when the lock is lost. */
  async take(): Promise<AbortSignal | undefined> {
    this.#client ??= await this.#connect();
    const { signal } = this.#lost;
    const { rows } = await this.#client.query<{ taken: boolean }>(TAKE, [this.#key]);
    return rows[0]?.taken ? signal : undefined;
  }

  async release(): Promise<void> {
    await this.#client?.end();
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client(this.settings);
    const lost = new AbortController();
    const living = setInterval(() => void client.query('SELECT').catch(() => {}), SIGN_OF_LIFE_MS);
    living.unref();
    const gone = () => {
      clearInterval(living);
      if (this.#client === client) this.#client = undefined;
      lost.abort();
    };
    client.on('error', gone);
    client.on('end', gone);
    try {
      await client.connect();
      await client.query(SET_LEASE);
    } catch (error) {
      clearInterval(living);
      throw error;
    }
    this.#lost = lost;
    return client;
  }
}
