import type { Outcome } from '#contracts';
import { type ConversationCommand, type ConversationKey, conversationEntryOf } from '#domain';
import { type Append, type AppendResult, type Entry, type EventLog, newId } from '#eventlog';
import { unavailable } from '#platform';
import { Conversations } from './conversations.js';

/** Each failed try means that another process has changed the conversation. */
const MAX_TRIES = 32;
const OUTCOME_PREFIX = 'question.';
const ASKED = 'question.asked';

/** What became of a question's event; the conversation may have a word in it. */
export type WriteResult = AppendResult | { readonly verdict: 'not_owner' | 'conversation_full' };

/**
 * Appends the events of questions. What belongs to a conversation is appended together with what it means there: an outcome
 * that is recorded is queued, or the turn's own, in the same instant.
 */
export class QuestionWriter {
  readonly conversations: Conversations;

  constructor(readonly log: EventLog) {
    this.conversations = new Conversations(log);
  }

  append(item: Append): Promise<WriteResult> {
    const key = conversationOf(item.entry);
    if (key === undefined) return this.log.append(item);
    return this.conversations.inTurn(key, () => this.#noted(key, item));
  }

  /** The same for who has the turn of the question's conversation already. */
  appendInTurn(item: Append): Promise<WriteResult> {
    const key = conversationOf(item.entry);
    return key === undefined ? this.log.append(item) : this.#noted(key, item);
  }

  async #noted(key: ConversationKey, item: Append): Promise<WriteResult> {
    const { entry } = item;
    let refusedAt = '';
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const { state, decision } = await this.conversations.decide(
        key,
        (now) => noteOf(entry, now),
        refusedAt,
      );
      // The conversation does not know the question: it was asked before there were any.
      if (decision.kind === 'nothing') return await this.log.append(item);
      if (decision.kind === 'not_owner' || decision.kind === 'conversation_full')
        return { verdict: decision.kind };
      if (decision.kind !== 'accepted') throw new Error(`${entry.type} of a conversation: ${decision.kind}`);
      const note = conversationEntryOf(key, state, decision);
      const result = await this.log.append({ ...item, together: [note] });
      if (!('stream' in result) || result.stream === entry.stream) return result;
      refusedAt = result.now;
    }
    throw unavailable();
  }
}

function conversationOf({ tenant, view }: Entry): ConversationKey | undefined {
  const id = view?.conversation ?? null;
  return id === null ? undefined : { tenant, id };
}

/** What a question's event is to its conversation. */
function noteOf({ type, actor: by, version, view, data }: Entry, now: string): ConversationCommand {
  const question = view?.id ?? '';
  if (type === ASKED) {
    const { turn } = JSON.parse(data) as { turn: string | null };
    return { kind: 'NoteQuestion', question, turn, by, now };
  }
  const outcome = type.slice(OUTCOME_PREFIX.length) as Outcome['kind'];
  return { kind: 'NoteOutcome', question, version, outcome, by, now, newContinuation: newId() };
}
