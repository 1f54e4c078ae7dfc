import { CONVERSATION_QUESTIONS_MAX, CONVERSATION_SENDS_MAX, type ConversationDecision } from '#domain';
import { notFound, Problem } from '#platform';

export type ConversationRefusal = Exclude<
  ConversationDecision['kind'],
  'accepted' | 'nothing' | 'overdue' | 'not_due' | 'send_known'
>;

const problems: Readonly<Record<ConversationRefusal, () => Problem>> = {
  unknown_conversation: () => notFound('conversation'),
  not_owner: () => notFound('conversation'),
  conversation_busy: () =>
    conflict(
      'conversation_busy',
      'a turn of this conversation is running: it ends when it is finished or stopped, or when its lease lapses',
    ),
  turn_over: () =>
    conflict(
      'turn_over',
      'this turn does not run: it was finished or stopped, its lease has lapsed, or it was never started',
    ),
  send_over: () =>
    conflict(
      'send_over',
      'this send is not being admitted: it was admitted or withdrawn, or its time is over',
    ),
  continuation_over: () =>
    conflict(
      'continuation_over',
      'this continuation is not pending: it was taken, withdrawn, or made needless by another turn',
    ),
  conversation_full: () =>
    conflict(
      'conversation_full',
      `a conversation has at most ${CONVERSATION_QUESTIONS_MAX} questions that are pending, queued or settled in the turn that runs, and ${CONVERSATION_SENDS_MAX} sends`,
    ),
};

/** What a refusal of the decider is to a client. */
export function conversationRefusal(kind: ConversationRefusal): Problem {
  return problems[kind]();
}

function conflict(code: string, detail: string): Problem {
  return new Problem({ status: 409, code, detail });
}
