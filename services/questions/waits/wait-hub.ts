import { conversationStreamOf, detachedBy } from '#domain';
import type { LoggedEvent } from '#eventlog';
import { questionOf } from '../question-cache.js';

/** Timeouts are rounded up to this, so that ten thousand waits need one timer. */
const TICK_MS = 100;

/** What who waits for a conversation is registered by. */
export function conversationName(tenant: string, id: string): string {
  return nameOf({ tenant, stream: conversationStreamOf(id) });
}

function nameOf({ tenant, stream }: Pick<LoggedEvent, 'tenant' | 'stream'>): string {
  return `${tenant}\n${stream}`;
}

/**
 * The envelope that settled a question; undefined for who is to look for itself; or that the turn that waits is over: what
 * becomes of its question from here on is told elsewhere.
 */
export type News = string | undefined | typeof RELEASED;
export const RELEASED = Symbol('released');

export interface Waiter {
  /** Of questions, or the names of conversations. */
  readonly ids: readonly string[];
  /** Set once it waits. */
  wake: ((news: News) => void) | undefined;
  /** What came before it waited. */
  early: { readonly news: News } | undefined;
  dueTick: number;
}

/** Who waits for which question or conversation in this process. An idle waiter costs memory only. */
export class WaitHub {
  readonly #waiters = new Map<string, Set<Waiter>>();
  readonly #due = new Map<number, Set<Waiter>>();
  #ticker: NodeJS.Timeout | undefined;
  #tick = currentTick();
  #closed = false;
  #count = 0;

  /** Whether nobody is to wait any more. */
  get closed(): boolean {
    return this.#closed;
  }

  /** How many wait now. */
  get size(): number {
    return this.#count;
  }

  /** Subscribes to the outcomes of questions; read their state after this and before `wait`, so none falls between. */
  register(ids: readonly string[]): Waiter {
    const waiter: Waiter = { ids, wake: undefined, early: undefined, dueTick: 0 };
    if (this.#closed) waiter.early = { news: undefined };
    for (const id of ids) {
      const waiting = this.#waiters.get(id);
      if (waiting === undefined) this.#waiters.set(id, new Set([waiter]));
      else waiting.add(waiter);
    }
    this.#count += 1;
    return waiter;
  }

  /** Resolves with the first news of what it waits for, or with undefined after the timeout. */
  wait(waiter: Waiter, timeoutMs: number): Promise<News> {
    if (waiter.early !== undefined) return Promise.resolve(waiter.early.news);
    return new Promise((resolve) => {
      waiter.wake = resolve;
      this.#schedule(waiter, timeoutMs);
    });
  }

  /** Must be called once for each `register`, whatever came of it. */
  leave(waiter: Waiter): void {
    this.#count -= 1;
    for (const id of waiter.ids) {
      const waiting = this.#waiters.get(id);
      waiting?.delete(waiter);
      if (waiting?.size === 0) this.#waiters.delete(id);
    }
    this.#due.get(waiter.dueTick)?.delete(waiter);
  }

  /** To be called with every event that the tail tells of. */
  follow(events: readonly LoggedEvent[]): void {
    for (const event of events) {
      const question = questionOf(event);
      if (question === undefined) this.#followConversation(event);
      else if (event.version > 1) this.#wake(question, event.envelope ?? undefined);
    }
  }

  /** Its state is not at hand; and when a turn is over, nobody of it waits any more for the questions that it leaves open. */
  #followConversation(event: LoggedEvent): void {
    this.#wake(nameOf(event), undefined);
    for (const question of detachedBy(event)) this.#wake(question, RELEASED);
  }

  #wake(id: string, news: News): void {
    for (const waiter of this.#waiters.get(id) ?? []) wake(waiter, news);
  }

  /** Lets everybody go with what they find now; later waits return at once. */
  close(): void {
    this.#closed = true;
    clearInterval(this.#ticker);
    for (const waiting of this.#waiters.values()) {
      for (const waiter of waiting) wake(waiter, undefined);
    }
  }

  #schedule(waiter: Waiter, timeoutMs: number): void {
    if (this.#ticker === undefined) {
      this.#tick = currentTick();
      this.#ticker = setInterval(() => this.#advance(), TICK_MS);
      this.#ticker.unref();
    }
    // One tick more than it takes: the current one has begun already.
    waiter.dueTick = currentTick() + Math.ceil(timeoutMs / TICK_MS) + 1;
    const due = this.#due.get(waiter.dueTick);
    if (due === undefined) this.#due.set(waiter.dueTick, new Set([waiter]));
    else due.add(waiter);
  }

  #advance(): void {
    // A busy event loop may have missed some.
    for (const now = currentTick(); this.#tick < now; this.#tick += 1) {
      for (const waiter of this.#due.get(this.#tick) ?? []) wake(waiter, undefined);
      this.#due.delete(this.#tick);
    }
    if (this.#count > 0) return;
    clearInterval(this.#ticker);
    this.#ticker = undefined;
    this.#due.clear();
  }
}

function currentTick(): number {
  return Math.floor(performance.now() / TICK_MS);
}

function wake(waiter: Waiter, news: News): void {
  if (waiter.wake === undefined) waiter.early ??= { news };
  else waiter.wake(news);
}
