import { pause, Signal } from '#bus';
import { Batcher } from '#eventlog';
import { type Health, type Logger, within } from '#platform';
import type { SecretBox } from '../secret-box.js';
import type { AttemptResult, Message, Sender } from '../sending/sender.js';
import type { Claimed, Claims, Completed, Target } from '../store/claims.js';
import { nextDelayMs } from './schedule.js';

const MAX_IN_FLIGHT = 1_024;
const MAX_CLAIMED = 256;
/** What other processes made, and what is due by its schedule, is looked for this often. */
const LOOK_AGAIN_MS = 100;
const RENEW_MS = 5_000;
const FAILURE_PAUSE_MS = 500;
/** What could not be recorded by then is sent again when its claim has lapsed. */
const COMPLETE_TRIES = 20;
const DRAIN_MS = 4_000;
const RECORD_MS = 1_000;
const GONE = 410;

export interface DispatcherParts {
  readonly claims: Claims;
  readonly sender: Sender;
  readonly box: SecretBox;
  readonly logger: Logger;
  /** Milliseconds before each retry. */
  readonly schedule: readonly number[];
  readonly failingForSeconds: number;
  /** Takes a webhook out of service, once. */
  readonly disable: (webhook: string, reason: 'gone' | 'failing') => Promise<void>;
  readonly attempted: (delivery: Claimed, result: AttemptResult) => void;
}

/** Sends what is due. Any number of processes do: each delivery is claimed by one of them, under a lease that it renews. */
export class Dispatcher {
  readonly #stopping = new AbortController();
  readonly #news = new Signal();
  readonly #inFlight = new Set<Promise<void>>();
  readonly #targets = new WeakMap<Target, Message['target']>();
  readonly #completions: Batcher<Completed, true>;
  #running: Promise<void> | undefined;
  #trouble: string | undefined;

  constructor(private readonly parts: DispatcherParts) {
    this.#completions = new Batcher((items) => this.#complete(items), {
      maxBatch: MAX_CLAIMED,
      maxWaiting: MAX_IN_FLIGHT,
    });
  }

  get inFlight(): number {
    return this.#inFlight.size;
  }

  get health(): Health {
    return { ok: this.#trouble === undefined, detail: this.#trouble ?? '' };
  }

  start(): void {
    const renewing = setInterval(() => {
      if (this.#inFlight.size > 0) this.parts.claims.renew().catch((error) => this.#failed(error));
    }, RENEW_MS);
    this.#running = this.#run(this.#stopping.signal).finally(() => clearInterval(renewing));
  }

  /** There is something new to send. */
  wake(): void {
    this.#news.raise();
  }

  /** Begins nothing more, waits for what is under way, within a bound, and breaks off the rest: it is tried again. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#news.raise();
    await this.#running;
    await within(DRAIN_MS, Promise.all(this.#inFlight)).catch(() => {});
    await this.parts.sender.stop();
    await within(RECORD_MS, Promise.all(this.#inFlight)).catch(() => {});
  }

  async #run(stopping: AbortSignal): Promise<void> {
    while (!stopping.aborted) {
      try {
        const claimed = await this.#claim();
        for (const delivery of claimed) this.#begin(delivery);
        this.#trouble = undefined;
        if (claimed.length < MAX_CLAIMED) await this.#news.wait(LOOK_AGAIN_MS);
      } catch (error) {
        this.#failed(error);
        await pause(FAILURE_PAUSE_MS, stopping);
      }
    }
  }

  async #claim(): Promise<Claimed[]> {
    const room = Math.min(MAX_IN_FLIGHT - this.#inFlight.size, MAX_CLAIMED);
    return room > 0 ? await this.parts.claims.claim(room) : [];
  }

  #begin(delivery: Claimed): void {
    const running = this.#attempt(delivery).catch((error) => this.#failed(error));
    this.#inFlight.add(running);
    void running.finally(() => {
      this.#inFlight.delete(running);
      this.#news.raise();
    });
  }

  async #attempt(delivery: Claimed): Promise<void> {
    const { sender, schedule, attempted, disable } = this.parts;
    const message = this.#messageOf(delivery);
    const result = 'error' in message ? message : await sender.send(message);
    attempted(delivery, result);
    await this.#completions.submit({ delivery, result, nextAt: nextAttempt(schedule, delivery, result) });
    if (result.status === GONE) await disable(delivery.webhook, 'gone');
  }

  #messageOf({ id, body, target }: Claimed): Message | AttemptResult {
    try {
      return { id, body, target: this.#opened(target) };
    } catch (error) {
      this.#failed(error);
      return { at: new Date(), durationMs: 0, status: null, error: 'secret_unreadable', response: null };
    }
  }

  /** Once for all deliveries that share it. */
  #opened(target: Target): Message['target'] {
    const { box } = this.parts;
    const known = this.#targets.get(target);
    if (known !== undefined) return known;
    const { url, headers, secrets, ed25519 } = target;
    const opened = {
      url,
      headers: JSON.parse(headers) as Record<string, string>,
      secrets: secrets.map((sealed) => box.open(sealed)),
      ed25519: ed25519 === null ? undefined : box.open(ed25519),
    };
    this.#targets.set(target, opened);
    return opened;
  }

  async #complete(items: readonly Completed[]): Promise<readonly true[]> {
    const { claims, failingForSeconds, disable } = this.parts;
    for (let tries = 1; ; tries += 1) {
      try {
        const failing = await claims.complete(items, failingForSeconds);
        for (const webhook of failing) await disable(webhook, 'failing');
        return items.map(() => true);
      } catch (error) {
        if (tries === COMPLETE_TRIES) throw error;
        this.#failed(error);
        await pause(FAILURE_PAUSE_MS, this.#stopping.signal);
      }
    }
  }

  #failed(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    if (this.#trouble !== reason) this.parts.logger.warn({ error: reason }, 'webhooks are held up');
    this.#trouble = reason;
  }
}

function nextAttempt(
  schedule: readonly number[],
  { tries, manual }: Claimed,
  { status, error, retryAfterMs }: AttemptResult,
): Date | null {
  if (error === null || manual || status === GONE) return null;
  const delay = nextDelayMs(schedule, { tries: tries + 1, retryAfterMs }, Math.random());
  return delay === undefined ? null : new Date(Date.now() + delay);
}
