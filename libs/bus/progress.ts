/** One event that is held. */
export interface Held {
  /** The position up to which all is done once this event is, and those before it. */
  upTo: number;
  readonly since: number;
  done: boolean;
}

const COMPACT_AFTER = 1_024;

/** How far everything is done, while events end in any order. Positions are given in order. */
export class Progress {
  readonly #held: Held[] = [];
  #first = 0;
  #upTo: number;

  constructor(start: number) {
    this.#upTo = start;
  }

  /** Everything up to this position is done. */
  get upTo(): number {
    return this.#upTo;
  }

  get held(): number {
    return this.#held.length - this.#first;
  }

  /** The event that holds the others up. */
  get oldest(): Held | undefined {
    return this.#held[this.#first];
  }

  begin(position: number, now: number): Held {
    const held = { upTo: position, since: now, done: false };
    this.#held.push(held);
    return held;
  }

  /** An event that concerns nobody is done as soon as those before it are. */
  skip(position: number): void {
    if (this.held === 0) this.#upTo = position;
    else (this.#held.at(-1) as Held).upTo = position;
  }

  finish(held: Held): void {
    held.done = true;
    for (let first = this.oldest; first?.done; first = this.oldest) {
      this.#upTo = first.upTo;
      this.#first += 1;
    }
    if (this.#first > COMPACT_AFTER) this.#first -= this.#held.splice(0, this.#first).length;
  }
}
