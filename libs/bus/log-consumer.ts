import { setMaxListeners } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LoggedEvent, LogTail } from '#eventlog';
import type { Checkpoint } from './checkpoint.js';
import { MAX_HELD, STANDBY_MS, STUCK_MS } from './contract.js';
import type { Delivery } from './delivery.js';
import type { EventHandlers } from './event-handlers.js';
import { Lanes } from './lanes.js';
import type { Progress } from './progress.js';
import { Signal } from './signal.js';

const READ_LIMIT = 500;

export interface LogConsumerParts {
  readonly tail: LogTail;
  readonly handlers: EventHandlers;
  readonly delivery: Delivery<LoggedEvent>;
  readonly progress: Progress;
  readonly checkpoint: Checkpoint;
}

/** The active member: reads the log in order and deals the events out, one lane for each question that has any. */
export class LogConsumer {
  readonly #signal = new Signal();
  #position: number;
  #failure: unknown;

  constructor(private readonly parts: LogConsumerParts) {
    this.#position = parts.progress.upTo;
  }

  /** Works until the signal is aborted; resolves when what ran has ended, or was given up on, and progress is recorded. */
  async run(stopping: AbortSignal): Promise<void> {
    const { tail, checkpoint } = this.parts;
    const wake = () => this.#signal.raise();
    // Every event that pauses listens to it.
    setMaxListeners(0, stopping);
    const leave = tail.observe(wake);
    stopping.addEventListener('abort', wake, { once: true });
    const lanes = this.#lanes(stopping);
    while (!stopping.aborted) {
      const events = await this.#read();
      const now = Date.now();
      for (const event of events) this.#accept(event, now, lanes);
      if (events.length > 0) await nextTurn();
      else await this.#signal.wait(STANDBY_MS);
    }
    leave();
    await lanes.drain();
    await checkpoint.close();
  }

  /** What keeps it from going on, if anything does. */
  get trouble(): string | undefined {
    const { progress, checkpoint } = this.parts;
    if (this.#failure !== undefined) return `the log can't be read: ${this.#failure}`;
    if (checkpoint.failure !== undefined) return `progress can't be recorded: ${checkpoint.failure}`;
    const since = progress.oldest?.since;
    if (since !== undefined && Date.now() - since > STUCK_MS)
      return `stuck behind the event after ${progress.upTo}`;
    return undefined;
  }

  async #read(): Promise<readonly LoggedEvent[]> {
    const { tail, progress } = this.parts;
    const room = MAX_HELD - progress.held;
    if (room <= 0 || this.#position >= tail.position) return [];
    try {
      const events = await tail.read(this.#position, Math.min(room, READ_LIMIT));
      this.#failure = undefined;
      return events;
    } catch (error) {
      this.#failure = error;
      return [];
    }
  }

  #lanes(stopping: AbortSignal): Lanes<LoggedEvent> {
    const { delivery, progress, checkpoint } = this.parts;
    const advanced = () => {
      checkpoint.advanced();
      this.#signal.raise();
    };
    return new Lanes({
      progress,
      deliver: (event, signal) => delivery.deliver(event, signal),
      advanced,
      stopping,
    });
  }

  #accept(event: LoggedEvent, now: number, lanes: Lanes<LoggedEvent>): void {
    const { handlers, progress, checkpoint } = this.parts;
    this.#position = event.position;
    if (handlers.of(event.type).length > 0) {
      lanes.accept(event, { question: `${event.tenant}\n${event.stream}`, place: event.position, now });
    } else {
      progress.skip(event.position);
      checkpoint.advanced();
    }
  }
}
