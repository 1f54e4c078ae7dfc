import type { Kafka } from 'kafkajs';
import type pg from 'pg';
import { GroupLock, type KafkaConfig, pause, Signal } from '#bus';
import type { EventLog, LoggedEvent } from '#eventlog';
import { ensureTopics } from '#kafka';
import type { Health, Logger, Registry } from '#platform';
import { cutByBytes } from './batches.js';
import { registerRelayMetrics } from './metrics.js';
import { RelayTerm } from './term.js';

const LOCK = 'settled.relay';
const EVENT_AT = 'SELECT id FROM events WHERE position = $1';
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
  /** From when it leads until somebody else may: also while it cannot publish. */
  #inCharge = false;
  #reached = false;
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

  /** Of who leads or last did; others know nothing of it. */
  get #lagEvents(): number {
    if (!this.#inCharge) return 0;
    return Math.max(this.parts.log.tail.position - (this.#position ?? 0), 0);
  }

  get #lagMs(): number {
    return this.#lagEvents === 0 ? 0 : Math.max(Date.now() - this.#publishedUntilMs, 0);
  }

  async #run(stopping: AbortSignal): Promise<void> {
    while (!stopping.aborted) {
      try {
        await this.#checkKafka();
        const lost = await this.#lock.take();
        if (lost !== undefined) await this.#lead(AbortSignal.any([lost, stopping]));
        else this.#standsBy();
        await pause(LOOK_AGAIN_MS, stopping);
      } catch (error) {
        this.#failed(error);
        // Another one may be better off.
        await this.#lock.release().catch(() => {});
        await pause(Math.min(FIRST_PAUSE_MS * 2 ** (this.#failuresInARow - 1), LONGEST_PAUSE_MS), stopping);
      }
    }
    this.#leading = false;
    await this.#lock.release().catch(() => {});
  }

  /** Who cannot reach Kafka does not try to lead, and says so. */
  async #checkKafka(): Promise<void> {
    if (this.#reached) return;
    await ensureTopics(this.parts.kafka, this.parts.settings);
    this.#reached = true;
  }

  /** Publishes until the signal is aborted; rejects when it cannot. */
  async #lead(ending: AbortSignal): Promise<void> {
    const { log, kafka, settings, logger } = this.parts;
    const news = new Signal();
    const term = await RelayTerm.begin(kafka, settings);
    const start = await this.#startOf(term).catch(async (error: unknown) => {
      await term.end();
      throw error;
    });
    const leave = log.tail.observe(() => news.raise());
    const wake = () => news.raise();
    ending.addEventListener('abort', wake, { once: true });
    try {
      this.#leads(start);
      for (let position = start; !ending.aborted; ) {
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

  /** Where to go on. Throws when what was published is not of this log, or is in other topics. */
  async #startOf({ checkpoint }: RelayTerm): Promise<number> {
    if (checkpoint === undefined) return 0;
    const { log, settings } = this.parts;
    const { position, event, topics } = checkpoint;
    const {
      KAFKA_RELAY_TOPIC: own,
      KAFKA_QUESTIONS_TOPIC: questions,
      KAFKA_OUTCOMES_TOPIC: outcomes,
    } = settings;
    if (topics.join() !== [questions, outcomes].join()) {
      throw new Error(`${own} is about ${topics.join(' and ')}: other topics need another KAFKA_RELAY_TOPIC`);
    }
    const { rows } = await log.pool.query<{ id: string }>(EVENT_AT, [position]);
    if (rows[0]?.id === event) return position;
    throw new Error(`${own} is about another log than this database's, up to event ${event} at ${position}`);
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
    this.#inCharge = true;
    this.#position = position;
    this.#isWell();
    this.parts.logger.info({ position }, 'the relay leads');
  }

  #standsBy(): void {
    this.#leading = false;
    this.#inCharge = false;
    this.#isWell();
  }

  #isWell(): void {
    this.#trouble = undefined;
    this.#failuresInARow = 0;
  }

  #failed(error: unknown): void {
    this.#leading = false;
    this.#reached = false;
    this.#counts.failures += 1;
    this.#failuresInARow += 1;
    const reason = error instanceof Error ? error.message : String(error);
    if (this.#failuresInARow === 1) {
      this.parts.logger.warn({ error: reason }, 'the relay cannot publish; it tries again until it can');
    }
    this.#trouble = `cannot publish: ${reason}`;
  }
}
