import type { Principal } from '#contracts';
import type { LoggedEvent } from '#eventlog';
import type { EventStream } from '#platform';
import { questionOf } from '../question-cache.js';
import type { OpenQuestion } from '../store/open-questions.js';

/** A connection that has pinged this many questions is ended; the client comes back with a clean slate. */
const PINGS_MAX = 50_000;

/** One open inbox: what it was pinged for, so that it hears of each question at most once and of its end at most once. */
export class InboxConnection {
  /** Addressee of each question that was pinged; null once it was retracted. */
  readonly #pinged = new Map<string, string | null>();
  rooms: ReadonlySet<string> = new Set();
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    readonly principal: Principal,
    private readonly stream: EventStream,
  ) {}

  get addressees(): string[] {
    return [`direct:${this.principal.subject}`, ...[...this.rooms].map((room) => `room:${room}`)];
  }

  ping({ id, addressee, envelope }: OpenQuestion, position: number): void {
    if (this.#pinged.has(id)) return;
    this.#pinged.set(id, addressee);
    this.stream.send({ id: String(position), event: 'ping', data: envelope });
    if (this.#pinged.size >= PINGS_MAX) this.stream.end();
  }

  /** Tells of the end of a question that this connection, or the one it resumes, was pinged for. */
  retract(id: string, envelope: string, position: number): void {
    if (this.#pinged.get(id) === null) return;
    this.#pinged.set(id, null);
    this.stream.send({ id: String(position), event: 'retract', data: envelope });
  }

  settle(event: LoggedEvent): void {
    const id = questionOf(event);
    if (id === undefined || event.envelope === null || typeof this.#pinged.get(id) !== 'string') return;
    this.retract(id, event.envelope, event.position);
  }

  /** The questions that it still shows of an addressee. */
  shownOf(addressee: string): string[] {
    return [...this.#pinged].flatMap(([id, of]) => (of === addressee ? [id] : []));
  }

  /** Runs what is asked for one after the other, so that what was read last is what stands. */
  oneAtATime(work: () => Promise<void>): Promise<void> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => {});
    return result;
  }

  end(): void {
    this.stream.end();
  }
}
