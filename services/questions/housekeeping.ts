import type pg from 'pg';
import { forgetOldResults, type Logger } from '#platform';

const INTERVAL_MS = 10 * 60_000;
const BATCH = 5_000;

/** Forgets idempotency keys that are older than a day, a batch at a time. */
export class Housekeeping {
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;

  constructor(
    private readonly pool: pg.Pool,
    private readonly logger: Logger,
  ) {}

  start(): void {
    this.#timer = setInterval(() => {
      this.#running ??= this.#run().finally(() => {
        this.#running = undefined;
      });
    }, INTERVAL_MS);
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    await this.#running;
  }

  async #run(): Promise<void> {
    try {
      while (this.#timer !== undefined && (await forgetOldResults(this.pool, BATCH)) === BATCH);
    } catch (error) {
      this.logger.warn(
        { error: String(error) },
        'old idempotency keys could not be forgotten; the next round tries again',
      );
    }
  }
}
