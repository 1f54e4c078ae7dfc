import { setMaxListeners } from 'node:events';
import { Lanes } from '../lanes.js';
import { Progress } from '../progress.js';

/** A record that is being brought to its handlers, or aside. */
export interface Arrival {
  readonly work: (stopping: AbortSignal) => Promise<boolean>;
  readonly question: string;
}

interface PartitionParts {
  /** The offset of the first record that it is given. */
  readonly first: number;
  /** Whether the group has committed that offset. */
  readonly committed: boolean;
  /** Called whenever there is more room, or progress to record. */
  readonly advanced: () => void;
}

/** What this member does of one partition, for as long as it is its. */
export class Partition {
  readonly #progress: Progress;
  readonly #lanes: Lanes<Arrival>;
  readonly #stopping = new AbortController();
  #next: number;
  #saved: number;

  constructor({ first, committed, advanced }: PartitionParts) {
    this.#next = first;
    this.#saved = committed ? first : first - 1;
    // Every event that pauses listens to it.
    setMaxListeners(0, this.#stopping.signal);
    this.#progress = new Progress(first - 1);
    this.#lanes = new Lanes({
      progress: this.#progress,
      deliver: ({ work }, stopping) => work(stopping),
      advanced,
      stopping: this.#stopping.signal,
    });
  }

  /** Records from here on are new to it; after the group was joined anew some come a second time. */
  get next(): number {
    return this.#next;
  }

  get held(): number {
    return this.#progress.held;
  }

  /** When the record came that holds the others up. */
  get stuckSince(): number | undefined {
    return this.#progress.oldest?.since;
  }

  /** The offset to commit: of the first record that is not done. Undefined when that is committed already. */
  get uncommitted(): number | undefined {
    const offset = this.#progress.upTo + 1;
    return offset > this.#saved ? offset : undefined;
  }

  committed(offset: number): void {
    this.#saved = Math.max(this.#saved, offset);
  }

  /** Takes the record at an offset; one that concerns nobody comes without an arrival. */
  accept(offset: number, arrival: Arrival | undefined, now: number): void {
    this.#next = offset + 1;
    if (arrival === undefined) this.#progress.skip(offset);
    else this.#lanes.accept(arrival, { question: arrival.question, place: offset, now });
  }

  /** Begins nothing new. */
  stop(): void {
    this.#stopping.abort();
  }

  /** Resolves when what runs has ended, within a bound. */
  async drain(): Promise<void> {
    this.stop();
    await this.#lanes.drain();
  }
}
