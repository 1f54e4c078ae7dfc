import { DatabaseClock } from '#eventlog';
import type { Health, Logger } from '#platform';
import { type QuestionWriter, sweepLapses, sweepOverdue } from '#settling';

/** A sweep comes at least this often, whatever the timer and the bus are up to. */
const SWEEP_INTERVAL_MS = 1_000;
const SWEEP_AGAIN_MIN_MS = 5;

/**
 * Settles questions whose deadline has passed, and ends turns and sends whose time is over: a timer for the nearest known deadline, and a sweep that makes it certain.
 * Any number of sweepers may run on one database.
 */
export class Sweeper {
  readonly #clock = new DatabaseClock();
  #timer: NodeJS.Timeout | undefined;
  #dueAtMs = Number.POSITIVE_INFINITY;
  #sweeping: Promise<void> | undefined;
  #stopped = true;
  #failing = false;

  constructor(
    private readonly writer: QuestionWriter,
    private readonly logger: Logger,
  ) {}

  get health(): Health {
    return this.#failing ? { ok: false, detail: 'the last sweep failed' } : { ok: true, detail: '' };
  }

  /** What is overdue already is settled before it resolves. */
  async start(): Promise<void> {
    this.#stopped = false;
    await this.sweep();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#sweeping;
  }

  /** Learns of a deadline: RFC 3339, by the database's clock. */
  expect(expiresAt: string): void {
    this.#arm(Date.parse(expiresAt) - Date.parse(this.#clock.now));
  }

  /** Sweeps now, or joins the sweep that is running. */
  sweep(): Promise<void> {
    this.#sweeping ??= this.#run().finally(() => {
      this.#sweeping = undefined;
    });
    return this.#sweeping;
  }

  async #run(): Promise<void> {
    clearTimeout(this.#timer);
    this.#dueAtMs = Number.POSITIVE_INFINITY;
    let nextInMs = SWEEP_INTERVAL_MS;
    try {
      const swept = await sweepOverdue(this.writer);
      this.#clock.observe(swept.now);
      const lapses = await sweepLapses(this.writer);
      nextInMs = Math.min(swept.nextInMs ?? SWEEP_INTERVAL_MS, lapses.nextInMs ?? SWEEP_INTERVAL_MS);
      this.#failing = false;
    } catch (error) {
      if (!this.#failing)
        this.logger.warn({ error: String(error) }, 'a sweep failed; the next one tries again');
      this.#failing = true;
    }
    this.#arm(Math.max(nextInMs, SWEEP_AGAIN_MIN_MS));
  }

  #arm(inMs: number): void {
    if (this.#stopped) return;
    const dueAtMs = performance.now() + Math.min(Math.max(inMs, 0), SWEEP_INTERVAL_MS);
    if (dueAtMs >= this.#dueAtMs) return;
    this.#dueAtMs = dueAtMs;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.sweep(), Math.ceil(dueAtMs - performance.now()));
    this.#timer.unref();
  }
}
