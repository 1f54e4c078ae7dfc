export interface BatchLimits {
  /** Items that one batch carries at most. */
  readonly maxBatch: number;
  /** Items that wait at most; one more is refused with `BatcherFull`. */
  readonly maxWaiting: number;
}

/** More is waiting than the limit allows: try again later. */
export class BatcherFull extends Error {
  override readonly name = 'BatcherFull';
  /** SQLSTATE class 53, insufficient resources: for callers it is the database that is too busy. */
  readonly code = '53000';
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Group commit: while one batch is in flight the next one gathers. One batch at a time, in the order of submission.
 * The first batch starts at the end of the event loop's turn, so that requests read together travel together.
 */
export class Batcher<Item, Result> {
  #waiting: Waiting<Item, Result>[] = [];
  #busy = false;

  /** `run` returns one result per item, in order; an Error among them rejects its item, a rejection rejects all. */
  constructor(
    private readonly run: (items: readonly Item[]) => Promise<readonly (Result | Error)[]>,
    private readonly limits: BatchLimits,
  ) {}

  submit(item: Item): Promise<Result> {
    if (this.#waiting.length >= this.limits.maxWaiting) {
      return Promise.reject(
        new BatcherFull(`${this.limits.maxWaiting} requests are waiting for the database`),
      );
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (this.#busy) return;
      this.#busy = true;
      setImmediate(() => this.#drain());
    });
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, this.limits.maxBatch);
      try {
        const results = await this.run(batch.map(({ item }) => item));
        batch.forEach(({ resolve, reject }, index) => {
          const result = results[index] as Result | Error;
          if (result instanceof Error) reject(result);
          else resolve(result);
        });
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#busy = false;
  }
}
