import type { EventStream } from '../http/event-stream.js';
import type { Authenticator } from './authenticator.js';

const CHECK_MS = 250;

interface Guarded {
  readonly stream: EventStream;
  readonly authorization: string | undefined;
}

/** Ends open streams when the key that opened them is revoked, here or elsewhere, and when the process stops. */
export class StreamGuard {
  readonly #streams = new Set<Guarded>();
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(private readonly authenticator: Authenticator) {
    authenticator.watch(() => void this.#recheck());
  }

  get size(): number {
    return this.#streams.size;
  }

  guard(stream: EventStream, authorization: string | undefined): void {
    if (this.#closed) return stream.end();
    const guarded = { stream, authorization };
    this.#streams.add(guarded);
    stream.closed(() => {
      this.#streams.delete(guarded);
      if (this.#streams.size === 0) clearInterval(this.#timer);
    });
    if (this.#streams.size > 1) return;
    // While streams are open somebody must ask for changes made elsewhere.
    clearInterval(this.#timer);
    this.#timer = setInterval(() => void this.authenticator.check().catch(() => {}), CHECK_MS);
    this.#timer.unref();
  }

  /** Rejects with a 401 problem when the key that a long request came with was revoked meanwhile. */
  async stillValid(authorization: string | undefined): Promise<void> {
    if (this.authenticator.remembered(authorization) === undefined)
      await this.authenticator.authenticate(authorization);
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
    for (const { stream } of this.#streams) stream.end();
  }

  async #recheck(): Promise<void> {
    for (const { stream, authorization } of this.#streams) {
      await this.authenticator.authenticate(authorization).catch((error: unknown) => {
        if (isRefusal(error)) stream.end();
      });
    }
  }
}

/** A database that is away revokes nothing. */
function isRefusal(error: unknown): boolean {
  return error instanceof Error && 'status' in error && error.status === 401;
}
