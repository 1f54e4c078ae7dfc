import type { Logger } from '#platform';
import type { DeliveryStore } from './store/deliveries.js';

const INTERVAL_MS = 60_000;
const BATCH = 2_000;

/** Forgets deliveries that have ended long ago, a batch at a time. */
export class Retention {
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;

  constructor(
    private readonly deliveries: DeliveryStore,
    private readonly days: number,
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
      while (this.#timer !== undefined && (await this.deliveries.forget(this.days, BATCH)) === BATCH);
    } catch (error) {
      const message = 'old deliveries could not be forgotten; the next round tries again';
      this.logger.warn({ error: String(error) }, message);
    }
  }
}
