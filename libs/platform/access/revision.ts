import type pg from 'pg';

/** How long what was read of keys and memberships is trusted before the database is asked whether anything changed. */
export const ACCESS_LEASE_MS = 200;
const REFRESH_AHEAD_MS = 100;

const READ = 'SELECT revision FROM access_revision';

/**
 * Watches the count of access changes without a timer: who uses what was cached asks for `fresh` first. A change is seen
 * by every process within `ACCESS_LEASE_MS`, so the one that makes a change waits that long before it says so.
 */
export class AccessRevision {
  #revision = -1;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #checking: Promise<void> | undefined;

  /** `changed` is called whenever the count differs from the last one seen. */
  constructor(
    private readonly pool: pg.Pool,
    private readonly changed: () => void,
  ) {}

  /** Whether what is cached may be used now. Starts a check ahead of time, so that steady use never waits. */
  get fresh(): boolean {
    const ageMs = performance.now() - this.#checkedAt;
    if (ageMs > REFRESH_AHEAD_MS) void this.check().catch(() => {});
    return ageMs < ACCESS_LEASE_MS;
  }

  /** Resolves when what is cached was right after this was called. A check that was under way may have read too early. */
  async checkAnew(): Promise<void> {
    await this.#checking?.catch(() => {});
    await this.check();
  }

  check(): Promise<void> {
    this.#checking ??= this.#read().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  async #read(): Promise<void> {
    const askedAt = performance.now();
    const { rows } = await this.pool.query<{ revision: string }>({ name: 'access_revision', text: READ });
    const revision = Number(rows[0]?.revision);
    // Dated from before the question: the answer may be that old.
    this.#checkedAt = askedAt;
    if (revision === this.#revision) return;
    this.#revision = revision;
    this.changed();
  }
}
