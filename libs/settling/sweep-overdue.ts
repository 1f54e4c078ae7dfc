import { setImmediate as nextTurn } from 'node:timers/promises';
import { expiryOf } from '#domain';
import { type OverdueQuestion, readOverdue } from '#eventlog';
import type { QuestionWriter } from './question-writer.js';

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

/**
 * Settles every question that is overdue by the database's clock, through the same append as everybody: the guard under
 * the writer's lock decides, so any number of sweeps may run at once, next to answers.
 */
export async function sweepOverdue(writer: QuestionWriter): Promise<Sweep> {
  let settled = 0;
  for (;;) {
    const { questions, now, nextInMs } = await readOverdue(writer.log.pool, PAGE);
    if (questions.length === 0) return { settled, now, nextInMs };
    const done = await settlePage(writer, questions, now);
    settled += done;
    // Nothing of a whole page was ours to settle: another sweep is at it.
    if (done === 0) return { settled, now, nextInMs: 0 };
  }
}

/** While the database writes one chunk the next is prepared; more than a few would keep everybody else waiting. */
async function settlePage(
  writer: QuestionWriter,
  questions: readonly OverdueQuestion[],
  now: string,
): Promise<number> {
  const inFlight: Promise<number>[] = [];
  let settled = 0;
  for (let start = 0; start < questions.length; start += CHUNK) {
    const writing = expireAll(writer, questions.slice(start, start + CHUNK), now);
    // A failure is reported where it is awaited; until then it must not count as unhandled.
    writing.catch(() => {});
    inFlight.push(writing);
    await nextTurn();
    if (inFlight.length > CHUNKS_IN_FLIGHT) settled += (await inFlight.shift()) ?? 0;
  }
  for (const count of await Promise.all(inFlight)) settled += count;
  return settled;
}

async function expireAll(
  writer: QuestionWriter,
  questions: readonly OverdueQuestion[],
  now: string,
): Promise<number> {
  const results = await Promise.all(
    questions.map(async (question) => {
      const entry = expiryOf(question, now);
      return entry === undefined ? undefined : await writer.append({ entry, correlation: CORRELATION });
    }),
  );
  return results.filter((result) => result?.verdict === 'appended').length;
}
