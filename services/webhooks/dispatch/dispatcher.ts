import { pause, Signal } from '#bus';
import { Batcher, isolateFaults } from '#eventlog';
import { type Health, isDatabaseUnavailable, type Logger, within } from '#platform';
import type { SecretBox } from '../secret-box.js';
import { type AttemptResult, BROKEN_OFF, type Message, type Sender } from '../sending/sender.js';
import type { Claimed, Claims, Completed, Target } from '../store/claims.js';
import { nextDelayMs } from './schedule.js';

const MAX_IN_FLIGHT = 2_048;
const MAX_COMPLETED = 256;
/**
 * One claim, and one webhook, take at most this part of the places that are free. However many receivers hang, none holds more
 * than that, and something is left for those that do not.
 */
const SHARE = 1 / 8;
/** What other processes made, and what is due by its schedule, is looked for this often. */
const LOOK_AGAIN_MS = 100;
/** Claims are renewed after this part of a lease. */
const RENEW = 1 / 4;
/** What could not be renewed for this part is given up at the third time, before others may send the same. */
const AT_RISK = 5 / 8;
const FAILURE_PAUSE_MS = 500;
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
  readonly #inFlight = new Map<Claimed, Promise<void>>();
  readonly #targets = new WeakMap<Target, Message['target'] | undefined>();
  readonly #completions: Batcher<Completed, true>;
  #running: Promise<void> | undefined;
  #renewedAt = performance.now();
  #trouble: string | undefined;

  constructor(private readonly parts: DispatcherParts) {
    this.#completions = new Batcher((items) => isolateFaults(items, (some) => this.#complete(some)), {
      maxBatch: MAX_COMPLETED,
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
    const everyMs = this.parts.claims.leaseSeconds * 1_000 * RENEW;
    const renewing = setInterval(() => this.#renew().catch((error) => this.#failed(error)), everyMs);
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
    await within(DRAIN_MS, Promise.all(this.#inFlight.values())).catch(() => {});
    await this.parts.sender.stop();
    await within(RECORD_MS, Promise.all(this.#inFlight.values())).catch(() => {});
  }

  async #run(stopping: AbortSignal): Promise<void> {
    while (!stopping.aborted) {
      try {
        const room = this.#room;
        const claimed = room > 0 ? await this.parts.claims.claim(room) : [];
        for (const delivery of claimed) this.#begin(delivery);
        this.#trouble = undefined;
        if (claimed.length < Math.max(1, room)) await this.#news.wait(LOOK_AGAIN_MS);
      } catch (error) {
        this.#failed(error);
        await pause(FAILURE_PAUSE_MS, stopping);
      }
    }
  }

  /** How many may be claimed now. */
  get #room(): number {
    const free = MAX_IN_FLIGHT - this.#inFlight.size;
    return free > 0 ? Math.max(1, Math.floor(free * SHARE)) : 0;
  }

  async #renew(): Promise<void> {
    const { claims, sender } = this.parts;
    const riskMs = claims.leaseSeconds * 1_000 * AT_RISK;
    if (performance.now() - this.#renewedAt > riskMs) sender.breakOff();
    const startedAt = performance.now();
    if (this.#inFlight.size > 0) await claims.renew([...this.#inFlight.keys()]);
    this.#renewedAt = startedAt;
  }

  #begin(delivery: Claimed): void {
    const running = this.#attempt(delivery)
      .catch((error) => this.#failed(error))
      .finally(() => {
        this.#inFlight.delete(delivery);
        this.#news.raise();
      });
    this.#inFlight.set(delivery, running);
  }

  async #attempt(delivery: Claimed): Promise<void> {
    const { claims, sender, schedule, attempted, disable } = this.parts;
    const message = this.#messageOf(delivery);
    const result = 'error' in message ? message : await sender.send(message);
    // Nobody's fault, and nothing that counts as an attempt.
    if (result.error === BROKEN_OFF) return await claims.release(delivery);
    attempted(delivery, result);
    await this.#completions.submit({ delivery, result, delayMs: delayAfter(schedule, delivery, result) });
    if (result.status === GONE) await this.#insist(() => disable(delivery.webhook, 'gone'));
  }

  #messageOf({ id, body, target }: Claimed): Message | AttemptResult {
    const opened = this.#opened(target);
    if (opened !== undefined) return { id, body, target: opened };
    return { at: new Date(), durationMs: 0, status: null, error: 'secret_unreadable', response: null };
  }

  /** Once for all deliveries that share it; undefined when there is no secret that could be read. */
  #opened(target: Target): Message['target'] | undefined {
    if (this.#targets.has(target)) return this.#targets.get(target);
    const opened = this.#open(target);
    this.#targets.set(target, opened);
    return opened;
  }

  #open(target: Target): Message['target'] | undefined {
    const secrets = target.secrets
      .map((sealed) => this.#unseal(sealed))
      .filter((secret) => secret !== undefined);
    if (secrets.length === 0) return undefined;
    return {
      url: target.url,
      headers: JSON.parse(target.headers) as Record<string, string>,
      secrets,
      ed25519: target.ed25519 === null ? undefined : this.#unseal(target.ed25519),
    };
  }

  #unseal(sealed: Buffer): string | undefined {
    try {
      return this.parts.box.open(sealed);
    } catch (error) {
      this.parts.logger.error(
        { error: String(error) },
        'a webhook is sent without a signature by this secret',
      );
      return undefined;
    }
  }

  async #complete(items: readonly Completed[]): Promise<readonly true[]> {
    const { claims, failingForSeconds, disable } = this.parts;
    const failing = await this.#insist(() => claims.complete(items, failingForSeconds));
    for (const webhook of failing) await this.#insist(() => disable(webhook, 'failing'));
    return items.map(() => true);
  }

  /** Again as long as the database is away. */
  async #insist<Result>(work: () => Promise<Result>): Promise<Result> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!isDatabaseUnavailable(error) || this.#stopping.signal.aborted) throw error;
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

function delayAfter(
  schedule: readonly number[],
  { tries, manual }: Claimed,
  { status, error, retryAfterMs }: AttemptResult,
): number | null {
  if (error === null || manual || status === GONE) return null;
  return nextDelayMs(schedule, { tries: tries + 1, retryAfterMs }, Math.random()) ?? null;
}
