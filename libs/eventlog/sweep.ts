import type { Entry } from './entry.js';
import type { EventLog } from './event-log.js';
import { type OverdueQuestion, readOverdue } from './overdue.js';

const PAGE = 2_000;
const CORRELATION = 'sweep';

export interface Sweep {
  /** The database's clock at its last look. */
  readonly now: string;
  /** How many questions this sweep itself has settled. */
  readonly settled: number;
  /** Milliseconds until the next deadline, by the database's clock; null when nothing is pending. */
  readonly nextInMs: number | null;
}

/** Turns an overdue question into the entry that expires it; undefined when it is not due after all. */
export type Expiry = (question: OverdueQuestion, now: string) => Entry | undefined;

/**
 * Settles every question that is overdue by the database's clock, through the same append as everybody: the guard under
 * the writer's lock decides, so any number of sweeps may run at once, next to answers.
 */
export async function sweepOverdue(log: EventLog, expiry: Expiry): Promise<Sweep> {
  let settled = 0;
  for (;;) {
    const { questions, now, nextInMs } = await readOverdue(log.pool, PAGE);
    if (questions.length === 0) return { settled, now, nextInMs };
    const entries = questions.flatMap((question) => expiry(question, now) ?? []);
    const results = await Promise.all(
      entries.map((entry) => log.append({ entry, correlation: CORRELATION })),
    );
    const done = results.filter(({ verdict }) => verdict === 'appended').length;
    settled += done;
    // Nothing of a whole page was ours to settle: another sweep is at it.
    if (done === 0) return { settled, now, nextInMs: 0 };
  }
}
