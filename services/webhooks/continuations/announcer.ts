import { v5 as uuidv5 } from 'uuid';
import { conversationOfStream } from '#domain';
import type { EventLog } from '#eventlog';
import type { Health, Logger } from '#platform';
import type { FanOut } from '../fan-out.js';
import { countAnnouncement, type DueContinuation, dueContinuations } from '../store/continuations.js';

const TYPE = 'conversation.continuation';
const PAGE = 100;
/** A look comes at least this often, whatever the log tells of. */
const LOOK_MS = 1_000;

export interface AnnouncerParts {
  readonly log: EventLog;
  readonly fanOut: FanOut;
  /** Milliseconds before each further announcement of what nobody takes; the last one repeats. */
  readonly schedule: readonly number[];
  readonly logger: Logger;
}

/**
 * Tells webhooks of continuations, and again of those that nobody takes. What is to be announced stands in the database,
 * and each announcement has an id of its own that whoever makes it comes to: so none is lost with a process that dies, and
 * of several processes that announce the same one, one does.
 */
export class Announcer {
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #again = false;
  #stopped = true;
  #failing = false;
  #leave = () => {};

  constructor(private readonly parts: AnnouncerParts) {}

  get health(): Health {
    return this.#failing
      ? { ok: false, detail: 'the last look for continuations failed' }
      : { ok: true, detail: '' };
  }

  start(): void {
    this.#stopped = false;
    this.#leave = this.parts.log.tail.observe((events) => {
      if (events.some(({ stream }) => conversationOfStream(stream) !== undefined)) this.#look();
    });
    this.#look();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#leave();
    clearTimeout(this.#timer);
    await this.#looking;
  }

  #look(): void {
    if (this.#stopped) return;
    clearTimeout(this.#timer);
    this.#again = true;
    this.#looking ??= this.#run().finally(() => {
      this.#looking = undefined;
      if (this.#stopped) return;
      this.#timer = setTimeout(() => this.#look(), LOOK_MS);
      this.#timer.unref();
    });
  }

  async #run(): Promise<void> {
    try {
      while (this.#again && !this.#stopped) {
        this.#again = false;
        const due = await dueContinuations(this.parts.log.pool, PAGE);
        await Promise.all(due.map((continuation) => this.#announce(continuation)));
        if (due.length === PAGE) this.#again = true;
      }
      this.#failing = false;
    } catch (error) {
      if (!this.#failing)
        this.parts.logger.warn(
          { error: String(error) },
          'continuations could not be announced; the next look tries again',
        );
      this.#failing = true;
    }
  }

  async #announce(continuation: DueContinuation): Promise<void> {
    const { log, fanOut, schedule } = this.parts;
    const { tenant, conversation, id, event, position, begunAt, announcements, answers } = continuation;
    const isFirst = announcements === 0;
    await fanOut.announce({
      id: isFirst ? event : uuidv5(String(announcements), event),
      tenant,
      // A further one happens now: also for who was not there at the first.
      position: isFirst ? Number(position) : null,
      type: TYPE,
      at: begunAt,
      data: `{"conversation":${JSON.stringify(conversation)},"continuation":"${id}","answers":[${answers ?? ''}]}`,
    });
    const delayMs = schedule[announcements] ?? schedule.at(-1) ?? 0;
    await countAnnouncement(log.pool, continuation, delayMs / 1_000);
  }
}
