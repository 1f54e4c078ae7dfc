import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Entry } from './entry.js';
import type { EventLog } from './event-log.js';
import { type OverdueQuestion, readOverdue } from './overdue.js';

const PAGE = 5_000;
const CHUNK = 256;
const CHUNKS_IN_FLIGHT = 3;
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

type EntryOf = (question: OverdueQuestion) => Entry | undefined;

/**
 * Settles every question that is overdue by the database's clock, through the same append as everybody: the guard under
 * the writer's lock decides, so any number of sweeps may run at once, next to answers.
 */
export async function sweepOverdue(log: EventLog, expiry: Expiry): Promise<Sweep> {
  let settled = 0;
  for (;;) {
    const { questions, now, nextInMs } = await readOverdue(log.pool, PAGE);
    if (questions.length === 0) return { settled, now, nextInMs };
    const done = await settlePage(log, questions, (question) => expiry(question, now));
    settled += done;
    // Nothing of a whole page was ours to settle: another sweep is at it.
    if (done === 0) return { settled, now, nextInMs: 0 };
  }
}

/** While the database writes one chunk the next is prepared; more than a few would keep everybody else waiting. */
async function settlePage(
  log: EventLog,
  questions: readonly OverdueQuestion[],
  entryOf: EntryOf,
): Promise<number> {
  const inFlight: Promise<number>[] = [];
  let settled = 0;
  for (let start = 0; start < questions.length; start += CHUNK) {
    const entries = questions.slice(start, start + CHUNK).flatMap((question) => entryOf(question) ?? []);
    const writing = appendAll(log, entries);
    // A failure is reported where it is awaited; until then it must not count as unhandled.
    writing.catch(() => {});
    inFlight.push(writing);
    await nextTurn();
    if (inFlight.length > CHUNKS_IN_FLIGHT) settled += (await inFlight.shift()) ?? 0;
  }
  for (const count of await Promise.all(inFlight)) settled += count;
  return settled;
}

async function appendAll(log: EventLog, entries: readonly Entry[]): Promise<number> {
  const results = await Promise.all(entries.map((entry) => log.append({ entry, correlation: CORRELATION })));
  return results.filter(({ verdict }) => verdict === 'appended').length;
}
