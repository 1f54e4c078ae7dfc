import type { Principal } from '#contracts';
import type { QuestionReader, Seen } from '../question-reader.js';
import { type News, RELEASED, type Waiter, type WaitHub } from './wait-hub.js';

const SWEEP_GRACE_MS = 2_000;

/** Waiting never consumes and never fails for "not yet". */
export class WaitService {
  constructor(
    private readonly hub: WaitHub,
    private readonly reader: QuestionReader,
  ) {}

  /** The JSON of the question when it settles, or as it is after the timeout or the end of its turn; undefined for who may not see it. */
  async wait(principal: Principal, id: string, timing: Timing): Promise<string | undefined> {
    const waiter = this.hub.register([id]);
    try {
      const seen = await this.reader.seeQuickly(principal, id);
      if (seen === undefined || seen.snapshot.settled) return seen?.snapshot.json;
      const news =
        timing.timeoutMs === 0 ? undefined : await this.#news(waiter, this.#upToDeadline(seen, timing));
      const json = news === RELEASED ? seen.snapshot.json : news;
      // Who was let in as a member may have left the room since.
      if (json !== undefined && seen.memberSince === null) return json;
      const now = await this.reader.see(principal, id);
      return now && (json ?? now.snapshot.json);
    } finally {
      this.hub.leave(waiter);
    }
  }

  /** The JSON of those that are settled, as soon as one is; undefined when one of them may not be seen. */
  async waitAny(principal: Principal, ids: readonly string[], timing: Timing): Promise<string[] | undefined> {
    const waiter = this.hub.register(ids);
    try {
      const seen = await this.#settledOf(principal, ids);
      if (seen === undefined || seen.length > 0 || timing.timeoutMs === 0) return seen;
      const news = await this.#news(waiter, timing);
      return news === RELEASED ? [] : await this.#settledOf(principal, ids);
    } finally {
      this.hub.leave(waiter);
    }
  }

  /** Somebody settles a question soon after its deadline. Should nobody, the waiter itself looks then, which settles it. */
  #upToDeadline({ snapshot, now }: Seen, { timeoutMs, gone }: Timing): Timing {
    const overdueMs = Date.parse(snapshot.state.question.expiresAt) - Date.parse(now) + SWEEP_GRACE_MS;
    return { timeoutMs: Math.min(timeoutMs, overdueMs), gone };
  }

  async #settledOf(principal: Principal, ids: readonly string[]): Promise<string[] | undefined> {
    const seen = await Promise.all(ids.map((id) => this.reader.see(principal, id)));
    if (!seen.every((one): one is Seen => one !== undefined)) return undefined;
    return seen.filter(({ snapshot }) => snapshot.settled).map(({ snapshot }) => snapshot.json);
  }

  #news(waiter: Waiter, { timeoutMs, gone }: Timing): Promise<News> {
    const news = this.hub.wait(waiter, timeoutMs);
    // A client that went away must not be kept in memory until its timeout.
    gone(() => waiter.wake?.(undefined));
    return news;
  }
}

export interface Timing {
  readonly timeoutMs: number;
  /** Registers what to do when the client goes away. */
  readonly gone: (listener: () => void) => void;
}
