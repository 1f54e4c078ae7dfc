/**
 * Reads that many ask for at once are done once: who comes while one runs shares the next, which begins after they came,
 * so nobody is shown what was true before they asked.
 */
export class SharedReads<Result> {
  readonly #running = new Map<string, Promise<Result>>();
  readonly #next = new Map<string, Promise<Result>>();

  /** Reads of one name must be the same read. */
  read(name: string, run: () => Promise<Result>): Promise<Result> {
    const running = this.#running.get(name);
    if (running === undefined) return this.#start(name, run);
    const waiting = this.#next.get(name);
    if (waiting !== undefined) return waiting;
    const next = running.then(
      () => this.#follow(name, run),
      () => this.#follow(name, run),
    );
    this.#next.set(name, next);
    return next;
  }

  #follow(name: string, run: () => Promise<Result>): Promise<Result> {
    this.#next.delete(name);
    return this.#start(name, run);
  }

  #start(name: string, run: () => Promise<Result>): Promise<Result> {
    const reading = run().finally(() => {
      if (this.#running.get(name) === reading) this.#running.delete(name);
    });
    this.#running.set(name, reading);
    return reading;
  }
}
