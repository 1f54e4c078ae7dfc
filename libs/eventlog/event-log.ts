import type pg from 'pg';
import { Appender } from './appender.js';
import type { Append, AppendResult, LoggedEvent } from './entry.js';
import { LogListener } from './listener.js';
import { type Loaded, Loader, type QuestionKey } from './loader.js';
import { type Page, readStream, readTenant, type StreamKey } from './reader.js';
import { LogTail } from './tail.js';

export interface EventLogSettings {
  readonly pool: pg.Pool;
  /** For the listener's connection, which is not one of the pool's. */
  readonly connection: pg.ClientConfig;
}

/** The log of one database, as this process sees it. The schema must be migrated before it starts. */
export class EventLog {
  readonly pool: pg.Pool;
  readonly tail: LogTail;
  readonly #listener: LogListener;
  readonly #appender: Appender;
  readonly #loader: Loader;

  constructor({ pool, connection }: EventLogSettings) {
    this.pool = pool;
    this.#listener = new LogListener(connection);
    this.tail = new LogTail(pool, this.#listener);
    this.#appender = new Appender({
      pool,
      announce: () => !this.#listener.alone,
      committed: (events) => this.tail.committed(events),
    });
    this.#loader = new Loader(pool);
  }

  async start(): Promise<void> {
    await this.tail.start();
  }

  async stop(): Promise<void> {
    await this.tail.stop();
  }

  /** Appends one event, together with whatever else waits. Durable when it resolves as `appended`. */
  append(item: Append): Promise<AppendResult> {
    return this.#appender.append(item);
  }

  /** What this process has appended so far. */
  get appended(): Readonly<Appender['counts']> {
    return this.#appender.counts;
  }

  /** The state view of a question with the database's clock, together with whatever else waits. */
  load(key: QuestionKey): Promise<Loaded> {
    return this.#loader.load(key);
  }

  readTenant(tenant: string, page: Page): Promise<LoggedEvent[]> {
    return readTenant(this.pool, tenant, page);
  }

  readStream(stream: StreamKey, limit: number): Promise<LoggedEvent[]> {
    return readStream(this.pool, stream, limit);
  }
}
