import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';

const SAMPLES = 9;
const NOW = 'SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now';

/** The database's clock as it can be known from here: to half of the shortest round trip. */
export class DatabaseClockEstimate {
  private constructor(private readonly aheadMs: number) {}

  static async of(connection: pg.ClientConfig): Promise<DatabaseClockEstimate> {
    const client = new pg.Client(connection);
    await client.connect();
    let best = { roundTripMs: Number.POSITIVE_INFINITY, aheadMs: 0 };
    for (let sample = 0; sample < SAMPLES; sample += 1) {
      const before = performance.now();
      const { rows } = await client.query<{ now: string }>(NOW);
      const after = performance.now();
      const aheadMs = Number(rows[0]?.now) - (before + after) / 2;
      if (after - before < best.roundTripMs) best = { roundTripMs: after - before, aheadMs };
    }
    await client.end();
    return new DatabaseClockEstimate(best.aheadMs);
  }

  get nowMs(): number {
    return performance.now() + this.aheadMs;
  }

  /** Resolves at an instant of that clock, or at once when it has passed. */
  async reaches(atMs: number): Promise<void> {
    while (this.nowMs < atMs) await pause(atMs - this.nowMs);
  }
}
