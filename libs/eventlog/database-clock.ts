/**
 * The database's clock as last seen, carried on by this process's monotonic one. It lags by up to a round trip, so it is
 * good for a first guess; what counts is judged by the database.
 */
export class DatabaseClock {
  #seenMs = Date.now();
  #seenAt = performance.now();
  #toldMs = 0;
  #told = '';

  observe(now: string): void {
    this.#seenMs = Date.parse(now);
    this.#seenAt = performance.now();
  }

  get now(): string {
    const nowMs = Math.floor(this.#seenMs + performance.now() - this.#seenAt);
    // Many ask within a millisecond.
    if (nowMs !== this.#toldMs) {
      this.#toldMs = nowMs;
      this.#told = new Date(nowMs).toISOString();
    }
    return this.#told;
  }
}
