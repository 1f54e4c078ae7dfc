import { type CustomTransportStrategy, type MessageHandler, Server } from '@nestjs/microservices';
import { type EventLog, type LoggedEvent, openCheckpoint, saveCheckpoint, saveDeadLetter } from '#eventlog';
import { isDatabaseUnavailable } from '#platform';
import { Checkpoint } from './checkpoint.js';
import { type BusHealth, MAX_CONCURRENT, RETRY, type RetryLimits, STANDBY_MS } from './contract.js';
import { Delivery } from './delivery.js';
import { EventHandlers } from './event-handlers.js';
import { GroupLock } from './group-lock.js';
import { LogConsumer } from './log-consumer.js';
import { Progress } from './progress.js';
import { pause } from './signal.js';
import { Slots } from './slots.js';
import { transportOf } from './subscribe.js';

export interface LogTransportOptions {
  /** Must be started before the transport listens, and be stopped after it is closed. */
  readonly log: Pick<EventLog, 'pool' | 'tail'>;
  readonly group: string;
  /** JSON text of the envelope of a question at one of its events. */
  readonly project: (event: LoggedEvent) => string;
  /** Where a group that is new begins: at the first event there is (default), or at the next one that comes. */
  readonly from?: 'start' | 'end';
  readonly retry?: Partial<RetryLimits>;
  /** Whether an error of a handler says that infrastructure is away, so that it is tried again without bound. */
  readonly isUnavailable?: (error: unknown) => boolean;
}

/** The bus without a broker: a consumer group that tails the log. It keeps the contract of `contract.ts`. */
export class LogTransport extends Server implements CustomTransportStrategy {
  override readonly transportId: symbol;
  override readonly propagatesEventHandlerErrors = true;
  readonly #handlers = new EventHandlers();
  readonly #lock: GroupLock;
  readonly #closing = new AbortController();
  readonly #held = new Map<number, string>();
  #consumer: LogConsumer | undefined;
  #progress: Progress | undefined;
  #failure: unknown;
  #serving: Promise<void> | undefined;

  constructor(private readonly options: LogTransportOptions) {
    super();
    this.transportId = transportOf(options.group);
    this.#lock = new GroupLock(options.log.pool.options, options.group);
  }

  /** Each handler is kept by itself: see `EventHandlers`. */
  override addHandler(pattern: unknown, handler: MessageHandler, isEventHandler = false): void {
    if (!isEventHandler) throw new Error(`The bus carries events, and ${String(pattern)} is a request`);
    const type = this.normalizePattern(pattern as string);
    this.#handlers.add(type, handler);
    this.messageHandlers.set(type, handler);
  }

  /** Returns at once: whether this member is active, and whether it works, is what `health` says. */
  listen(callback: () => void): void {
    this.#serving = this.#serve();
    callback();
  }

  /** Lets what runs finish, within `DRAIN_MS`, and records the progress. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#serving;
  }

  health(): BusHealth {
    if (this.#serving === undefined) return { ok: false, detail: 'not started' };
    if (this.#closing.signal.aborted) return { ok: false, detail: 'stopped' };
    if (this.#failure !== undefined) return { ok: false, detail: String(this.#failure) };
    const [held] = this.#held;
    if (held !== undefined) return { ok: false, detail: `event ${held[0]} waits: ${held[1]}` };
    const trouble = this.#consumer?.trouble;
    if (trouble !== undefined) return { ok: false, detail: trouble };
    const active =
      this.#progress === undefined ? 'standby' : `active, everything up to ${this.#progress.upTo} is done`;
    return { ok: true, detail: active };
  }

  on(): never {
    throw new Error('The log transport has no events of its own');
  }

  unwrap<T>(): T {
    return this.options.log as T;
  }

  async #serve(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        const lost = await this.#lock.take();
        this.#failure = undefined;
        if (lost !== undefined) await this.#lead(AbortSignal.any([lost, signal]));
      } catch (error) {
        this.#failure = error;
      }
      await pause(STANDBY_MS, signal);
    }
    await this.#lock.release().catch(() => {});
  }

  async #lead(stopping: AbortSignal): Promise<void> {
    const { log, group, from = 'start' } = this.options;
    const progress = new Progress(await openCheckpoint(log.pool, group, from));
    const checkpoint = new Checkpoint(progress, (position) => saveCheckpoint(log.pool, group, position));
    const parts = {
      tail: log.tail,
      handlers: this.#handlers,
      delivery: this.#delivery(),
      progress,
      checkpoint,
    };
    this.#progress = progress;
    this.#consumer = new LogConsumer(parts);
    await this.#consumer.run(stopping);
    this.#consumer = undefined;
    this.#progress = undefined;
    this.#held.clear();
  }

  #delivery(): Delivery<LoggedEvent> {
    const { log, group, project, retry, isUnavailable = isDatabaseUnavailable } = this.options;
    return new Delivery({
      handlers: this.#handlers,
      project,
      retry: { ...RETRY, ...retry },
      slots: new Slots(MAX_CONCURRENT),
      isUnavailable,
      bury: ({ position }, letter) => saveDeadLetter(log.pool, { consumer: group, position, ...letter }),
      trouble: ({ position }, what) => {
        if (what === undefined) this.#held.delete(position);
        else this.#held.set(position, what);
      },
    });
  }
}
