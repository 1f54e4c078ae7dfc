import type { Conversation } from '#domain';
import { readLapsed, type StoredConversation } from '#eventlog';
import type { Conversations } from './conversations.js';
import type { QuestionWriter } from './question-writer.js';

const PAGE = 500;

export interface LapseSweep {
  readonly recorded: number;
  /** Milliseconds until the next lapse, by the database's clock; null when nothing can lapse. */
  readonly nextInMs: number | null;
}

/** Records what has lapsed in all conversations: turns and sends whose time is over. Any number of sweeps may run at once. */
export async function sweepLapses({ log, conversations }: QuestionWriter): Promise<LapseSweep> {
  let recorded = 0;
  for (;;) {
    const page = await readLapsed(log.pool, PAGE);
    if (page.conversations.length === 0) return { recorded, nextInMs: page.nextInMs };
    const done = await recordAll(conversations, page.conversations, page.now);
    recorded += done;
    // Nothing of a whole page was ours to record: another sweep is at it.
    if (done === 0) return { recorded, nextInMs: 0 };
  }
}

async function recordAll(
  conversations: Conversations,
  lapsed: readonly StoredConversation[],
  now: string,
): Promise<number> {
  const done = await Promise.all(
    lapsed.map((stored) => conversations.recordLapse(stored, JSON.parse(stored.state) as Conversation, now)),
  );
  return done.filter((one) => one).length;
}
