import { setTimeout as sleep } from 'node:timers/promises';
import { DRAIN_MS } from './contract.js';
import type { Held, Progress } from './progress.js';

interface Work<Event> {
  readonly event: Event;
  readonly held: Held;
}

export interface LanesParts<Event> {
  readonly progress: Progress;
  /** False when it was stopped before it was done. Never rejects. */
  readonly deliver: (event: Event, stopping: AbortSignal) => Promise<boolean>;
  /** Called whenever there is more room, or progress to record. */
  readonly advanced: () => void;
  readonly stopping: AbortSignal;
}

/** Deals events out, one lane for each question that has any: in order within a question, at the same time across them. */
export class Lanes<Event> {
  readonly #lanes = new Map<string, Work<Event>[]>();
  readonly #serving = new Set<Promise<void>>();

  constructor(private readonly parts: LanesParts<Event>) {}

  /** Events are given in the order of `place`, which is what progress counts in. */
  accept(
    event: Event,
    at: { readonly question: string; readonly place: number; readonly now: number },
  ): void {
    const work = { event, held: this.parts.progress.begin(at.place, at.now) };
    const lane = this.#lanes.get(at.question);
    if (lane !== undefined) {
      lane.push(work);
      return;
    }
    const serving = this.#serve(at.question, [work]);
    this.#serving.add(serving);
    serving.finally(() => this.#serving.delete(serving));
  }

  /** Resolves when what runs has ended, or after `DRAIN_MS`. */
  async drain(): Promise<void> {
    const drained = new AbortController();
    const late = sleep(DRAIN_MS, undefined, { signal: drained.signal }).catch(() => {});
    await Promise.race([Promise.all(this.#serving), late]);
    drained.abort();
  }

  async #serve(question: string, lane: Work<Event>[]): Promise<void> {
    const { progress, deliver, advanced, stopping } = this.parts;
    this.#lanes.set(question, lane);
    // Events that join the lane meanwhile are part of the loop.
    for (const { event, held } of lane) {
      // What is left when it stops is delivered again, by the next active member.
      if (!(await deliver(event, stopping))) return;
      progress.finish(held);
      advanced();
    }
    this.#lanes.delete(question);
  }
}
