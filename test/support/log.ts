import type pg from 'pg';
import { type Append, type AppendResult, EventLog, type LoggedEvent } from '#eventlog';
import { createPool } from '../../libs/platform/database.js';
import { ask } from './log-entries.js';

const POOL_SIZE = 4;

export interface TestLog {
  readonly log: EventLog;
  readonly pool: pg.Pool;
  stop(): Promise<void>;
}

/** The log of a database as one more process would see it. */
export async function openLog(connection: pg.ClientConfig, poolSize = POOL_SIZE): Promise<TestLog> {
  const pool = createPool(connection, poolSize);
  const log = new EventLog({ pool, connection });
  await log.start();
  const stop = async () => {
    await log.stop();
    await pool.end();
  };
  return { log, pool, stop };
}

/** Appends what must be accepted and returns the event. */
export async function append(log: EventLog, item: Append): Promise<LoggedEvent> {
  const result = await log.append(item);
  if (result.verdict !== 'appended') throw new Error(`Not appended: ${result.verdict}`);
  return result.event;
}

/** How many results there are of each verdict. */
export function tally(results: readonly AppendResult[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { verdict } of results) counts[verdict] = (counts[verdict] ?? 0) + 1;
  return counts;
}

/** The positions that a log tells of, from now on. */
export function positionsSeenBy({ log }: Pick<TestLog, 'log'>): number[] {
  const positions: number[] = [];
  log.tail.observe((events) => positions.push(...events.map(({ position }) => position)));
  return positions;
}

/** The positions of a log's first events. */
export function upTo(last: number): number[] {
  return Array.from({ length: last }, (_, index) => index + 1);
}

/** Appends that many events at once. */
export async function write(count: number, { log }: TestLog): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => append(log, ask())));
}
