type Stop = () => Promise<void> | void;

/** What was started, to be stopped in the opposite order. */
export class Shutdown {
  readonly #stops: Stop[] = [];
  #running: Promise<void> | undefined;

  /** To be called right after something has started. */
  add(stop: Stop): void {
    this.#stops.push(stop);
  }

  /** Stops everything once; the first failure is reported after all the others have been stopped. */
  run(): Promise<void> {
    this.#running ??= this.#run();
    return this.#running;
  }

  async #run(): Promise<void> {
    const failures: unknown[] = [];
    for (const stop of this.#stops.reverse()) {
      try {
        await stop();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}

/** Resolves as `work` does, or after the time limit: what is late is left behind. */
export async function within(timeLimitMs: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeLimitMs);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
