import { type EventLog, type LoggedEvent, openCheckpoint, saveCheckpoint, saveDeadLetter } from '#eventlog';
import { Checkpoint } from './checkpoint.js';
import { type BusHealth, STANDBY_MS } from './contract.js';
import { GroupLock } from './group-lock.js';
import { LogConsumer } from './log-consumer.js';
import { Progress } from './progress.js';
import { pause } from './signal.js';
import { BusTransport, type TransportOptions } from './transport.js';

export interface LogTransportOptions extends TransportOptions {
  /** Must be started before the transport listens, and be stopped after it is closed. */
  readonly log: Pick<EventLog, 'pool' | 'tail'>;
  /** JSON text of the envelope of a question at one of its events. */
  readonly project: (event: LoggedEvent) => string;
}

/** The bus without a broker: a consumer group that tails the log. It keeps the contract of `contract.ts`. */
export class LogTransport extends BusTransport<LoggedEvent> {
  readonly #lock: GroupLock;
  #consumer: LogConsumer | undefined;
  #progress: Progress | undefined;

  constructor(private readonly options: LogTransportOptions) {
    super(options);
    this.#lock = new GroupLock(options.log.pool.options, options.group);
  }

  protected state(): BusHealth {
    const trouble = this.#consumer?.trouble;
    if (trouble !== undefined) return { ok: false, detail: trouble };
    const active =
      this.#progress === undefined ? 'standby' : `active, everything up to ${this.#progress.upTo} is done`;
    return { ok: true, detail: active };
  }

  protected async serve(stopping: AbortSignal): Promise<void> {
    while (!stopping.aborted) {
      try {
        const lost = await this.#lock.take();
        this.failure = undefined;
        if (lost !== undefined) await this.#lead(AbortSignal.any([lost, stopping]));
      } catch (error) {
        this.failure = error;
      }
      await pause(STANDBY_MS, stopping);
    }
    await this.#lock.release().catch(() => {});
  }

  async #lead(stopping: AbortSignal): Promise<void> {
    const { log, group, from = 'start', project } = this.options;
    const progress = new Progress(await openCheckpoint(log.pool, group, from));
    const checkpoint = new Checkpoint(progress, (position) => saveCheckpoint(log.pool, group, position));
    const delivery = this.delivery({
      project,
      bury: ({ position }, letter) => saveDeadLetter(log.pool, { consumer: group, position, ...letter }),
    });
    this.#progress = progress;
    this.#consumer = new LogConsumer({
      tail: log.tail,
      handlers: this.handlers,
      delivery,
      progress,
      checkpoint,
    });
    await this.#consumer.run(stopping);
    this.#consumer = undefined;
    this.#progress = undefined;
    this.forget();
  }
}
