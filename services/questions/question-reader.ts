import type { ListQuery, Principal, QuestionAsked, QuestionEvent } from '#contracts';
import {
  type Asked,
  after,
  canSee,
  envelopeOf,
  expiryOf,
  isOverdue,
  type QuestionState,
  streamOf,
  unasked,
} from '#domain';
import { DatabaseClock, type EventLog, type LoggedEvent } from '#eventlog';
import { unavailable } from '#platform';
import { type QuestionWriter, sweepOverdue } from '#settling';
import type { QuestionCache } from './question-cache.js';
import { Snapshot } from './snapshot.js';
import { type ListPage, listQuestions } from './store/list.js';
import { SharedReads } from './store/shared-reads.js';

const NIL = '00000000-0000-0000-0000-000000000000';
const MAX_TRIES = 8;
/** Each try settles what is overdue; it takes a stream of deadlines to need many. */
const LIST_MAX_TRIES = 20;
const EVENTS_OF_A_QUESTION_MAX = 100;

/** A question that a principal may see, as it was at a moment of the database's clock. */
export interface Seen {
  readonly snapshot: Snapshot;
  /** When the principal joined the room of the question; null for who is not in it, and where nobody asked. */
  readonly memberSince: string | null;
  readonly now: string;
}

/** Reads of questions. One past its deadline is settled before it is shown. */
export class QuestionReader {
  readonly clock = new DatabaseClock();
  private readonly log: EventLog;
  readonly #lists = new SharedReads<ListPage>();

  constructor(
    private readonly writer: QuestionWriter,
    private readonly cache: QuestionCache,
  ) {
    this.log = writer.log;
  }

  /** Learns the database's clock: until then this machine's stands in for it. */
  async start(): Promise<void> {
    this.clock.observe((await this.log.load({ tenant: '', id: NIL, subject: '' })).now);
  }

  /**
   * The question as the database has it now; undefined for who may not see it. `notBefore` is a time that the log has told
   * of: its clock never runs backwards, the database's may have been set.
   */
  async see(principal: Principal, id: string, notBefore = ''): Promise<Seen | undefined> {
    const cached = this.cache.get(principal.tenant, id);
    if (cached?.settled && needsNoMembership(principal, cached.state)) return this.#seenInMemory(cached);
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const loaded = await this.log.load({ tenant: principal.tenant, id, subject: principal.subject });
      const { question } = loaded;
      const now = loaded.now > notBefore ? loaded.now : notBefore;
      this.clock.observe(now);
      if (question === null) return undefined;
      const { memberSince, version, envelope, defaultOption } = question;
      // What is known at that version need not be parsed again.
      const known = cached?.version === version ? cached : undefined;
      const snapshot = known ?? new Snapshot(version, envelope, defaultOption);
      const { state } = snapshot;
      if (!canSee(principal, state, memberSince)) return undefined;
      if (state.state !== 'pending') this.cache.putSettled(principal.tenant, id, snapshot);
      else if (isOverdue(state, now)) {
        await this.#expire(snapshot, now);
        continue;
      }
      return { snapshot, memberSince, now };
    }
    throw unavailable();
  }

  /**
   * The question as this process knows it, where that is enough: what is pending may be settled elsewhere by now, so it is
   * for who appends (the log judges) and for who waits (the tail tells). Undefined for who may not see it.
   */
  async seeQuickly(principal: Principal, id: string): Promise<Seen | undefined> {
    const cached = this.log.tail.failing ? undefined : this.cache.get(principal.tenant, id);
    if (cached === undefined || !needsNoMembership(principal, cached.state))
      return await this.see(principal, id);
    const { state } = cached;
    if (state.state === 'pending' && isOverdue(state, this.clock.now)) return await this.see(principal, id);
    return this.#seenInMemory(cached);
  }

  /** Newest first. */
  async list(principal: Principal, query: ListQuery): Promise<ListPage> {
    for (let tries = 0; tries < LIST_MAX_TRIES; tries += 1) {
      const page = await this.#lists.read(nameOf(principal, query), () =>
        listQuestions(this.log.pool, principal, query),
      );
      if (!page.overdue) return page;
      await sweepOverdue(this.writer);
    }
    throw unavailable();
  }

  /** The JSON of the question as it is, whoever sees it. */
  async current(tenant: string, id: string): Promise<string | undefined> {
    const { question } = await this.log.load({ tenant, id, subject: '' });
    return question?.envelope;
  }

  /** The JSON of the question at a version; undefined when it has not come that far. */
  async jsonAtVersion(tenant: string, id: string, version: number): Promise<string | undefined> {
    const cached = this.cache.get(tenant, id);
    if (cached?.version === version) return cached.json;
    return await this.#fold(tenant, id, (event) => event.version <= version, version);
  }

  /** The JSON of the question as it stood at an instant; undefined before it was asked. */
  async jsonAtTime(tenant: string, id: string, at: string): Promise<string | undefined> {
    const [asked] = await this.events(tenant, id);
    if (asked === undefined) return undefined;
    // It was over with its deadline, whenever that was written down.
    const { expiresAt } = JSON.parse(asked.data) as QuestionAsked;
    const stood = (event: LoggedEvent) =>
      event.at <= at || (event.type === 'question.expired' && expiresAt <= at);
    return await this.#fold(tenant, id, stood, 1);
  }

  /** The history of a question, oldest first. */
  events(tenant: string, id: string): Promise<LoggedEvent[]> {
    return this.log.readStream({ tenant, stream: streamOf(id) }, EVENTS_OF_A_QUESTION_MAX);
  }

  async #fold(tenant: string, id: string, until: (event: LoggedEvent) => boolean, least: number) {
    const events = (await this.events(tenant, id)).filter(until);
    if (events.length < least) return undefined;
    let state: QuestionState = unasked(tenant, id);
    for (const event of events) state = after(state, questionEvent(event));
    return JSON.stringify(envelopeOf(state as Asked));
  }

  async #expire(snapshot: Snapshot, now: string): Promise<void> {
    const view = { envelope: snapshot.json, defaultOption: snapshot.defaultOption };
    const entry = expiryOf(view, now);
    // Whatever the verdict, the next look finds it settled.
    if (entry !== undefined) await this.writer.append({ entry, correlation: 'touch' });
  }

  #seenInMemory(snapshot: Snapshot): Seen {
    return { snapshot, memberSince: null, now: this.clock.now };
  }
}

/** Whether a principal may see a question and no membership of a room has a say in it. */
function needsNoMembership(principal: Principal, state: Asked): boolean {
  return state.question.scope.kind === 'direct' && canSee(principal, state, null);
}

/** The same list of the same caller. */
function nameOf({ tenant, subject, scopes }: Principal, query: ListQuery): string {
  return JSON.stringify([tenant, subject, ...scopes, query]);
}

function questionEvent({ type, at, data }: LoggedEvent): QuestionEvent {
  // The log holds what the decider made.
  return { type, at, data: JSON.parse(data) } as QuestionEvent;
}
