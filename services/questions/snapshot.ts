import type { Envelope } from '#contracts';
import { type Asked, stateOf } from '#domain';

/** A question at one version: its JSON as every surface sends it, and the state that it shows, parsed when needed. */
export class Snapshot {
  #state: Asked | undefined;

  constructor(
    readonly version: number,
    readonly json: string,
    readonly defaultOption: string | null,
  ) {}

  get state(): Asked {
    this.#state ??= stateOf(JSON.parse(this.json) as Envelope, this.defaultOption);
    return this.#state;
  }

  get settled(): boolean {
    return this.state.state !== 'pending';
  }
}
