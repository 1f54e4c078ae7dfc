import pg from 'pg';

const RECONNECT_MS = 500;
const PEER_CHECK_MS = 2_000;

// Every process that tails the log holds this lock in shared mode: the holders are the peers.
const JOIN = 'SELECT pg_advisory_lock_shared(7301, 2)';
const LISTEN = 'LISTEN settled_log';
const HELLO = "SELECT pg_notify('settled_log', 'hello')";
const COUNT = `SELECT count(*)::integer AS members FROM pg_locks
  WHERE locktype = 'advisory' AND classid = 7301 AND objid = 2 AND objsubid = 2
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

/**
 * Hears of commits of other processes, on a connection of its own, and knows whether there are any: a process that is
 * alone notifies nobody. Losing the connection loses no event, since readers poll as well; it comes back by itself.
 */
export class LogListener {
  #client: pg.Client | undefined;
  #wake: () => void = () => {};
  #alone = false;
  #stopped = true;
  #counting: Promise<void> = Promise.resolve();
  #reconnect: NodeJS.Timeout | undefined;
  #peerCheck: NodeJS.Timeout | undefined;

  constructor(private readonly settings: pg.ClientConfig) {}

  /** Whether no other process tails this log. While that is unknown, it is taken for false. */
  get alone(): boolean {
    return this.#alone;
  }

  get connected(): boolean {
    return this.#client !== undefined;
  }

  /** `wake` is called at every notification and after every reconnect. */
  async start(wake: () => void): Promise<void> {
    this.#wake = wake;
    this.#stopped = false;
    await this.#connect();
    this.#peerCheck = setInterval(() => this.#countPeers(), PEER_CHECK_MS);
    this.#peerCheck.unref();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#reconnect);
    clearInterval(this.#peerCheck);
    await this.#client?.end();
  }

  async #connect(): Promise<void> {
    const client = new pg.Client(this.settings);
    client.on('error', () => this.#lost(client));
    client.on('end', () => this.#lost(client));
    client.on('notification', ({ payload }) => {
      this.#wake();
      if (payload === 'hello') this.#countPeers();
    });
    try {
      await client.connect();
      for (const statement of [LISTEN, JOIN, HELLO]) await client.query(statement);
    } catch (error) {
      client.end().catch(() => {});
      throw error;
    }
    // Stopped meanwhile: nobody else would end it.
    if (this.#stopped) return client.end();
    this.#client = client;
    await this.#countPeers();
  }

  /** One count at a time: the connection takes one query at a time. */
  #countPeers(): Promise<void> {
    this.#counting = this.#counting.then(() => this.#count());
    return this.#counting;
  }

  async #count(): Promise<void> {
    try {
      const result = await this.#client?.query<{ members: number }>(COUNT);
      this.#alone = result?.rows[0]?.members === 1;
    } catch {
      this.#alone = false;
    }
  }

  #lost(client: pg.Client): void {
    if (client !== this.#client) return;
    this.#client = undefined;
    this.#alone = false;
    client.end().catch(() => {});
    this.#retry();
  }

  #retry(): void {
    if (this.#stopped) return;
    this.#reconnect = setTimeout(() => {
      this.#connect().then(this.#wake, () => this.#retry());
    }, RECONNECT_MS);
    this.#reconnect.unref();
  }
}
