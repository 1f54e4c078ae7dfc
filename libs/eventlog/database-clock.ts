/**
 * The database's clock as last seen, carried on by this process's monotonic one. It lags by up to a round trip, so it is
 * good for a first guess; what counts is judged by the database.
 */
export class DatabaseClock {
  #seenMs = Date.now();
  #seenAt = performance.now();

  observe(now: string): void {
    this.#seenMs = Date.parse(now);
    this.#seenAt = performance.now();
  }

  get now(): string {
    return new Date(this.#seenMs + performance.now() - this.#seenAt).toISOString();
  }
}
