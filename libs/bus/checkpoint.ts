import { CHECKPOINT_MS } from './contract.js';

/** Records progress lazily: never more than is done, at most every `CHECKPOINT_MS`, and at the end. */
export class Checkpoint {
  #saved: number;
  #timer: NodeJS.Timeout | undefined;
  #saving: Promise<void> = Promise.resolve();
  #closed = false;
  #failure: unknown;

  constructor(
    private readonly progress: { readonly upTo: number },
    private readonly save: (position: number) => Promise<void>,
  ) {
    this.#saved = progress.upTo;
  }

  /** Why the last save failed; undefined when it did not. */
  get failure(): unknown {
    return this.#failure;
  }

  /** There may be progress to record. */
  advanced(): void {
    if (this.#timer !== undefined || this.#closed) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#saving = this.#record();
    }, CHECKPOINT_MS);
  }

  /** Records what is done; later progress is recorded no more. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#saving;
    await this.#record();
  }

  async #record(): Promise<void> {
    const { upTo } = this.progress;
    if (upTo <= this.#saved) return;
    try {
      await this.save(upTo);
      this.#saved = upTo;
      this.#failure = undefined;
    } catch (error) {
      this.#failure = error;
    }
    // Progress went on meanwhile, or this has to be tried again.
    if (this.progress.upTo > this.#saved) this.advanced();
  }
}
