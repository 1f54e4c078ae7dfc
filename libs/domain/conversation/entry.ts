import { ConversationTurnFinishedSchema } from '#contracts';
import { DEADLINE_AT } from '../question/commit-times.js';
import type { ConversationDecision } from './decide.js';
import { evolveConversation } from './evolve.js';
import type { Conversation } from './state.js';

const STREAM_PREFIX = 'conversation:';

export interface ConversationKey {
  readonly tenant: string;
  /** The client's name for it, unique in its tenant. */
  readonly id: string;
}

type Accepted = Extract<ConversationDecision, { kind: 'accepted' }>;

/** What the log is asked to write for one accepted decision: the event, its guard, and the state after it. */
export function conversationEntryOf(key: ConversationKey, state: Conversation, { event, guard }: Accepted) {
  const next = evolveConversation(state, event);
  return {
    tenant: key.tenant,
    stream: conversationStreamOf(key.id),
    version: next.version,
    type: event.type,
    data: JSON.stringify(event.data),
    actor: event.actor,
    guard,
    view: null,
    conversation: {
      id: key.id,
      owner: next.owner ?? '',
      lapsesAt: nextLapseKnown(next),
      continuation: next.continuation,
      state: JSON.stringify(next),
    },
  };
}

export function conversationStreamOf(id: string): string {
  return `${STREAM_PREFIX}${id}`;
}

/** The id of the conversation that a stream is of; undefined for other streams. */
export function conversationOfStream(stream: string): string | undefined {
  return stream.startsWith(STREAM_PREFIX) ? stream.slice(STREAM_PREFIX.length) : undefined;
}

/** The first lapse but the one that is counted from the commit, which the log knows of by the guard. */
function nextLapseKnown({ turn, sends }: Conversation): string | null {
  const known = [...sends, ...(turn === null ? [] : [turn])].flatMap(({ until }) =>
    until === DEADLINE_AT ? [] : [until],
  );
  return known.toSorted()[0] ?? null;
}

/** The questions that an event of a conversation, as it is in the log, has detached from the turn that asked them. */
export function detachedBy({
  type,
  data,
}: {
  readonly type: string;
  readonly data: string;
}): readonly string[] {
  if (type !== 'conversation.turn_finished') return [];
  return ConversationTurnFinishedSchema.parse(JSON.parse(data)).detached;
}
