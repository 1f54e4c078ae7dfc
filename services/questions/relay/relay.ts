import type { Kafka } from 'kafkajs';
import type pg from 'pg';
import { GroupLock, type KafkaConfig, pause, Signal } from '#bus';
import type { EventLog, LoggedEvent } from '#eventlog';
import type { Health, Logger, Registry } from '#platform';
import { cutByBytes } from './batches.js';
import { registerRelayMetrics } from './metrics.js';
import { RelayTerm } from './term.js';

const LOCK = 'settled.relay';
const READ_LIMIT = 500;
/** A standby looks this often whether the leader is gone; an idle leader whether there is news. */
const LOOK_AGAIN_MS = 1_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
/** From here on a leader that lags is said to be unwell. */
const LAG_MAX_MS = 10_000;

export interface RelayParts {
  /** Must be started before the relay. */
  readonly log: EventLog;
  readonly connection: pg.ClientConfig;
  readonly kafka: Kafka;
  readonly settings: KafkaConfig;
  readonly logger: Logger;
  readonly metrics: Registry;
}

/**
 * Publishes the log to Kafka, each event once for readers of what is committed. Of any number of relays one leads: the one
 * with the lock, which it holds by signs of life. That only decides who tries; what makes it exactly once is that Kafka
 * fences a predecessor's producer, and that the events and the checkpoint after them are one transaction.
 */
export class Relay {
  readonly #lock: GroupLock;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;
  #leading = false;
  #trouble: string | undefined = 'neither leads nor stands by yet';
  #failuresInARow = 0;
  #position: number | undefined;
  /** Everything that was committed by then has been published. */
  #publishedUntilMs = Date.now();
  readonly #counts = { published: 0, failures: 0 };

  constructor(private readonly parts: RelayParts) {
    this.#lock = new GroupLock(parts.connection, LOCK);
    registerRelayMetrics(parts.metrics, {
      leading: () => this.#leading,
      lagEvents: () => this.#lagEvents,
      lagMs: () => this.#lagMs,
      counts: this.#counts,
    });
  }

  /** Returns at once, whether Kafka is there or not. */
  start(): void {
    this.#running = this.#run(this.#stopping.signal);
  }

  /** Lets the transaction that is under way end, and the next relay take over at once. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  health(): Health {
    if (this.#trouble !== undefined) return { ok: false, detail: this.#trouble };
    if (this.#lagMs > LAG_MAX_MS)
      return { ok: false, detail: `${this.#lagEvents} events wait to be published` };
    return { ok: true, detail: '' };
  }

  /** Of the leader; others know nothing of it. */
  get #lagEvents(): number {
    if (!this.#leading) return 0;
    return Math.max(this.parts.log.tail.position - (this.#position ?? 0), 0);
  }

  get #lagMs(): number {
    return this.#lagEvents === 0 ? 0 : Math.max(Date.now() - this.#publishedUntilMs, 0);
  }

  async #run(stopping: AbortSignal): Promise<void> {
    while (!stopping.aborted) {
      try {
        const lost = await this.#lock.take();
        if (lost !== undefined) await this.#lead(AbortSignal.any([lost, stopping]));
        else this.#standsBy();
        await pause(LOOK_AGAIN_MS, stopping);
      } catch (error) {
        this.#failed(error);
        await pause(Math.min(FIRST_PAUSE_MS * 2 ** (this.#failuresInARow - 1), LONGEST_PAUSE_MS), stopping);
      }
    }
    this.#leading = false;
    await this.#lock.release().catch(() => {});
  }

  /** Publishes until the signal is aborted; rejects when it cannot. */
  async #lead(ending: AbortSignal): Promise<void> {
    const { log, kafka, settings, logger } = this.parts;
    const news = new Signal();
    const term = await RelayTerm.begin(kafka, settings);
    const leave = log.tail.observe(() => news.raise());
    const wake = () => news.raise();
    ending.addEventListener('abort', wake, { once: true });
    try {
      this.#leads(term.position);
      for (let position = term.position; !ending.aborted; ) {
        const events = await this.#read(position);
        if (events.length > 0) position = await this.#publish(term, events, ending);
        else {
          this.#publishedUntilMs = Date.now();
          await news.wait(LOOK_AGAIN_MS);
        }
      }
    } finally {
      leave();
      ending.removeEventListener('abort', wake);
      await term.end();
    }
    logger.info({ position: this.#position }, 'the relay leads no longer');
    this.#standsBy();
  }

  async #read(position: number): Promise<readonly LoggedEvent[]> {
    const { tail } = this.parts.log;
    return position < tail.position ? await tail.read(position, READ_LIMIT) : [];
  }

  /** Returns the position up to which it came. */
  async #publish(term: RelayTerm, events: readonly LoggedEvent[], ending: AbortSignal): Promise<number> {
    let position = 0;
    for (const batch of cutByBytes(events)) {
      if (position > 0 && ending.aborted) break;
      await term.publish(batch);
      const last = batch.at(-1) as LoggedEvent;
      position = last.position;
      this.#position = position;
      this.#publishedUntilMs = Date.parse(last.at);
      this.#counts.published += batch.length;
    }
    return position;
  }

  #leads(position: number): void {
    this.#leading = true;
    this.#position = position;
    this.#isWell();
    this.parts.logger.info({ position }, 'the relay leads');
  }

  #standsBy(): void {
    this.#leading = false;
    this.#isWell();
  }

  #isWell(): void {
    this.#trouble = undefined;
    this.#failuresInARow = 0;
  }

  #failed(error: unknown): void {
    this.#leading = false;
    this.#counts.failures += 1;
    this.#failuresInARow += 1;
    const reason = error instanceof Error ? error.message : String(error);
    if (this.#failuresInARow === 1) {
      this.parts.logger.warn({ error: reason }, 'the relay cannot publish; it tries again until it can');
    }
    this.#trouble = `cannot publish to Kafka: ${reason}`;
  }
}
