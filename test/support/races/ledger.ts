import { expect } from '@jest/globals';
import type { Envelope } from '#contracts';
import { inLanes } from './in-lanes.js';
import { type Participant, Refused } from './participant.js';
import { untilDone } from './until-done.js';

export interface Instance {
  readonly url: string;
}

/** A request with an Idempotency-Key, so that it can be sent again, to whichever instance. */
export type Send = (instance: Instance) => Promise<Envelope>;

/** What clients were told for sure, and what they have not heard of: both are held against the server afterwards. */
export class Ledger {
  readonly #told = new Map<string, Envelope>();
  readonly #unheard: Send[] = [];
  /** Requests that were told to come back later. */
  turnedAway = 0;
  #acknowledged = 0;

  /** How many requests were acknowledged. */
  get acknowledged(): number {
    return this.#acknowledged;
  }

  /** Sends and notes what comes of it; undefined when it is not known, because the server is away or going away. */
  async send(send: Send, instance: Instance): Promise<Envelope | undefined> {
    try {
      const question = await send(instance);
      this.#acknowledged += 1;
      this.#note(question);
      return question;
    } catch (error) {
      if (isTurnedAway(error)) this.turnedAway += 1;
      else if (!isCutOff(error)) throw error;
      this.#unheard.push(send);
      return undefined;
    }
  }

  /** Fails unless all that was acknowledged is there, and all that was not heard of can be had by a retry. */
  async verify(agent: Participant): Promise<void> {
    const retry = (send: Send) => untilDone(() => send(agent));
    for (const question of await inLanes(this.#unheard.splice(0), retry)) this.#note(question);
    const fetch = (id: string) => agent.fetch(id);
    for (const question of await inLanes([...this.#told.keys()], fetch)) this.#note(question);
  }

  #note(question: Envelope): void {
    const known = this.#told.get(question.id);
    if (known !== undefined) {
      expect(question.version).toBeGreaterThanOrEqual(known.version);
      if (question.version === known.version || known.state !== 'pending') expect(question).toEqual(known);
    }
    this.#told.set(question.id, question);
  }
}

/** As the contract has it while the database cannot be reached. */
export function isTurnedAway(error: unknown): boolean {
  if (!(error instanceof Refused) || error.status !== 503) return false;
  expect(error.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  expect(error.body).toMatchObject({ status: 503, code: 'unavailable' });
  return true;
}

/** The connection to the server broke, or could not be made. Told by its name: it may be of another realm. */
export function isCutOff(error: unknown): boolean {
  return (error as Error | undefined)?.name === 'TypeError';
}
