import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Envelope } from '#contracts';
import { type Cast, direct } from './instances.js';
import type { Instance, Ledger } from './ledger.js';
import type { Attempt } from './participant.js';

const LANES = 8;
const AGAIN_AFTER_MS = 20;

/** Questions that are asked and settled one after the other, in several lanes at once, until it is stopped. */
export class Load {
  #stopped = false;
  readonly #lanes: Promise<void>;

  constructor(
    private readonly cast: Cast,
    private readonly ledger: Ledger,
    private readonly instances: readonly Instance[],
  ) {
    const lanes = Array.from({ length: LANES }, (_, lane) => this.#lane(lane));
    this.#lanes = Promise.all(lanes).then(() => undefined);
    // Whoever stops it hears of it.
    this.#lanes.catch(() => {});
  }

  /** Resolves when the last requests have come to something; rejects when one got what no request should. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#lanes;
  }

  async #lane(lane: number): Promise<void> {
    for (let turn = lane; !this.#stopped; turn += 1) {
      const instance = this.instances[turn % this.instances.length] as Instance;
      const done = await this.#oneQuestion(instance, turn);
      if (!done && !this.#stopped) await pause(AGAIN_AFTER_MS);
    }
  }

  /** One in four expires, one is cancelled, two are answered. False when the server was away. */
  async #oneQuestion(instance: Instance, turn: number): Promise<boolean> {
    const { agent, ada } = this.cast;
    const retriable = { idempotencyKey: randomUUID() };
    const expires = turn % 4 === 0;
    const body = { ...direct(ada), ...(expires ? { expiresIn: 1 } : {}) };
    const asked = await this.ledger.send((at) => agent.at(at).ask(body, retriable), instance);
    if (asked === undefined || expires) return asked !== undefined;
    const settle = async (at: Instance) => {
      return turn % 4 === 1
        ? applied(await agent.at(at).cancel(asked.id, retriable))
        : applied(await ada.at(at).answer(asked.id, turn % 4 === 2 ? 'yes' : 'no', retriable));
    };
    return (await this.ledger.send(settle, instance)) !== undefined;
  }
}

/** Nobody else was at the question. */
function applied(attempt: Attempt): Envelope {
  if (!attempt.applied) throw new Error(`Not applied: ${JSON.stringify(attempt.question)}`);
  return attempt.question;
}
