import type pg from 'pg';
import type { LoggedEvent } from './entry.js';
import type { LogListener } from './listener.js';
import { readAll, readHead } from './reader.js';
import { RecentEvents } from './recent-events.js';

const READ_LIMIT = 1_000;
const POLL_MIN_MS = 20;
/** What a reader that hears nothing is behind at most. */
const POLL_MAX_MS = 250;

export type Observer = (events: readonly LoggedEvent[]) => void;

/**
 * Everything that is committed, by whatever process, once and in position order, from the head at its start.
 * Positions have no gaps, so what this process commits next to what it has seen needs no read; anything else is read
 * from the log: at a notification, after a reconnect, and at least every `POLL_MAX_MS`.
 */
export class LogTail {
  #recent = new RecentEvents();
  readonly #observers = new Set<Observer>();
  #position = 0;
  #reading: Promise<void> | undefined;
  #again = false;
  #pollMs = POLL_MAX_MS;
  #timer: NodeJS.Timeout | undefined;
  #stopped = true;
  #failing = false;

  constructor(
    private readonly pool: pg.Pool,
    private readonly listener: LogListener,
  ) {}

  /** The position of the last event that observers were told of. */
  get position(): number {
    return this.#position;
  }

  /** Whether the last look at the log failed. */
  get failing(): boolean {
    return this.#failing;
  }

  async start(): Promise<void> {
    await this.listener.start(() => this.#look());
    this.#position = await readHead(this.pool);
    this.#recent = new RecentEvents();
    this.#stopped = false;
    this.#schedule();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#reading;
    await this.listener.stop();
  }

  /** Observers are called in the order in which they came; they must not throw. Returns how to leave. */
  observe(observer: Observer): () => void {
    this.#observers.add(observer);
    return () => this.#observers.delete(observer);
  }

  /** Tells of what this process has committed itself. */
  committed(events: readonly LoggedEvent[]): void {
    const next = events[0];
    if (next === undefined || this.#stopped) return;
    if (next.position === this.#position + 1) this.#deliver(events);
    else if (next.position > this.#position) this.#look();
  }

  /** Events after a position: from memory when they are recent, else from the log. */
  async read(after: number, limit: number): Promise<readonly LoggedEvent[]> {
    return this.#recent.after(after, limit) ?? (await readAll(this.pool, after, limit));
  }

  #look(): void {
    if (this.#stopped) return;
    if (this.#reading !== undefined) {
      this.#again = true;
      return;
    }
    this.#reading = this.#catchUp().finally(() => {
      this.#reading = undefined;
      if (this.#again) this.#look();
      else this.#schedule();
    });
  }

  async #catchUp(): Promise<void> {
    this.#again = false;
    try {
      const events = await readAll(this.pool, this.#position, READ_LIMIT);
      this.#failing = false;
      // What was committed here meanwhile has been told already.
      const news = events.filter(({ position }) => position > this.#position);
      this.#pollMs = news.length > 0 ? POLL_MIN_MS : Math.min(this.#pollMs * 2, POLL_MAX_MS);
      if (news.length > 0) this.#deliver(news);
      if (events.length === READ_LIMIT) this.#again = true;
    } catch {
      this.#failing = true;
      this.#pollMs = POLL_MAX_MS;
    }
  }

  #deliver(events: readonly LoggedEvent[]): void {
    this.#position = (events.at(-1) as LoggedEvent).position;
    this.#recent.add(events);
    for (const observer of this.#observers) observer(events);
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    if (this.#stopped) return;
    this.#timer = setTimeout(() => this.#look(), this.#pollMs);
    this.#timer.unref();
  }
}
