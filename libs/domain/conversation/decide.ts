import type { ConversationEvent } from '#contracts';
import { COMMITTED_AT, DEADLINE_AT } from '../question/commit-times.js';
import type { Guard } from '../question/decide.js';
import type {
  BeginSend,
  ConversationCommand,
  FinishTurn,
  LapseConversation,
  NoteOutcome,
  NoteQuestion,
  ReachBoundary,
  StartTurn,
  StopConversation,
  WithdrawSend,
} from './commands.js';
import { type Conversation, nextLapse } from './state.js';

/** How long the admission of a send may take. */
export const SEND_LEASE_SECONDS = 60;
/** Of the questions that are pending, settled in the turn that runs, or queued, together. */
export const CONVERSATION_QUESTIONS_MAX = 500;
/** That are being admitted at the same time. */
export const CONVERSATION_SENDS_MAX = 100;
/** The actor of what lapses. */
export const LAPSE_ACTOR = 'system:expiry';

export type ConversationDecision =
  | { readonly kind: 'accepted'; readonly event: ConversationEvent; readonly guard: Guard }
  /** There is nothing to record. */
  | { readonly kind: 'nothing' }
  /** Something has lapsed and is not recorded yet: record that, then ask again. */
  | { readonly kind: 'overdue' }
  | { readonly kind: 'not_due' }
  | { readonly kind: 'unknown_conversation' }
  /** It has as many questions or sends as it may. */
  | { readonly kind: 'conversation_full' }
  | { readonly kind: 'not_owner' }
  | { readonly kind: 'conversation_busy' }
  | { readonly kind: 'turn_over' }
  | { readonly kind: 'send_over' }
  | { readonly kind: 'send_known' }
  | { readonly kind: 'continuation_over' };

/** Pure. Who may comes first, then what time has done, then what the command finds. */
export function decideConversation(command: ConversationCommand, state: Conversation): ConversationDecision {
  const lapse = nextLapse(state);
  if (command.kind === 'LapseConversation') return recordLapse(command, state);
  if (command.kind !== 'NoteOutcome') {
    if (state.owner === null && command.kind === 'StopConversation') return { kind: 'nothing' };
    if (state.owner === null && !MENTIONS.has(command.kind)) return { kind: 'unknown_conversation' };
    if (state.owner !== null && state.owner !== command.by) return { kind: 'not_owner' };
  }
  if (lapse !== undefined && lapse.until <= command.now) return { kind: 'overdue' };
  const decision = decideInTime(command, state);
  if (decision.kind !== 'accepted' || lapse === undefined) return decision;
  // What is decided of a turn or a send that is under way holds only as long as it is.
  return { ...decision, guard: { ...decision.guard, notAfter: lapse.until } };
}

const MENTIONS: ReadonlySet<string> = new Set(['NoteQuestion', 'BeginSend', 'StartTurn']);

function decideInTime(
  command: Exclude<ConversationCommand, LapseConversation>,
  state: Conversation,
): ConversationDecision {
  switch (command.kind) {
    case 'NoteQuestion':
      return noteQuestion(command, state);
    case 'NoteOutcome':
      return noteOutcome(command, state);
    case 'BeginSend':
      return beginSend(command, state);
    case 'WithdrawSend':
      return withdrawSend(command, state);
    case 'StartTurn':
      return startTurn(command, state);
    case 'ReachBoundary':
      return reachBoundary(command, state);
    case 'FinishTurn':
      return finishTurn(command, state);
    case 'StopConversation':
      return stop(command, state);
  }
}

function noteQuestion({ question, turn, by }: NoteQuestion, state: Conversation): ConversationDecision {
  if (state.questions.some(({ id }) => id === question)) return { kind: 'nothing' };
  const held = state.questions.length + state.queue.length + (state.turn?.settled.length ?? 0);
  if (held >= CONVERSATION_QUESTIONS_MAX) return { kind: 'conversation_full' };
  const attached = turn !== null && turn === state.turn?.id;
  return accepted(by, { type: 'conversation.question_asked', data: { question, turn, attached } });
}

function noteOutcome(command: NoteOutcome, state: Conversation): ConversationDecision {
  const { question, version, outcome, by, newContinuation } = command;
  const found = state.questions.find(({ id }) => id === question);
  if (found === undefined) return { kind: 'nothing' };
  const as = outcome === 'cancelled' ? 'cancelled' : found.attached ? 'attached' : 'queued';
  const begins = as === 'queued' && isIdle(state) && state.continuation === null;
  return accepted(by, {
    type: 'conversation.question_settled',
    data: { question, version, as, continuation: begins ? newContinuation : null },
  });
}

function beginSend({ send, by }: BeginSend, state: Conversation): ConversationDecision {
  if (state.sends.some(({ id }) => id === send)) return { kind: 'send_known' };
  if (state.sends.length >= CONVERSATION_SENDS_MAX) return { kind: 'conversation_full' };
  const data = { send, until: DEADLINE_AT, withdrawn: state.continuation };
  return accepted(by, { type: 'conversation.send_begun', data }, SEND_LEASE_SECONDS);
}

function withdrawSend(command: WithdrawSend, state: Conversation): ConversationDecision {
  if (!state.sends.some(({ id }) => id === command.send)) return { kind: 'send_over' };
  return accepted(command.by, sendEnded(command.send, 'withdrawn', state, command.newContinuation));
}

function startTurn(command: StartTurn, state: Conversation): ConversationDecision {
  const { turn, send, continuation, leaseSeconds, by } = command;
  if (state.turn !== null) return { kind: 'conversation_busy' };
  if (send !== null && !state.sends.some(({ id }) => id === send)) return { kind: 'send_over' };
  if (continuation !== null && continuation !== state.continuation) return { kind: 'continuation_over' };
  const data = {
    turn,
    send,
    continuation,
    withdrawn: continuation === null ? state.continuation : null,
    leaseSeconds,
    until: DEADLINE_AT,
    answers: [...state.queue],
  };
  return accepted(by, { type: 'conversation.turn_started', data }, leaseSeconds);
}

function reachBoundary({ turn, by }: ReachBoundary, state: Conversation): ConversationDecision {
  if (state.turn?.id !== turn) return { kind: 'turn_over' };
  const data = { turn, until: DEADLINE_AT, answers: [...state.queue] };
  return accepted(by, { type: 'conversation.boundary_reached', data }, state.turn.leaseSeconds);
}

function finishTurn({ turn, by, newContinuation }: FinishTurn, state: Conversation): ConversationDecision {
  if (state.turn?.id !== turn) return { kind: 'turn_over' };
  return accepted(by, turnFinished('finished', state, newContinuation));
}

function stop({ reason, by }: StopConversation, state: Conversation): ConversationDecision {
  const data = {
    reason,
    turn: state.turn?.id ?? null,
    // A stop is about what the agent does; a message that is on its way still comes.
    sends: reason === 'deleted' ? state.sends.map(({ id }) => id) : [],
    cancelled: state.questions.map(({ id }) => id),
    dropped: [...state.queue],
    withdrawn: state.continuation,
  };
  return accepted(by, { type: 'conversation.stopped', data });
}

function recordLapse({ now, newContinuation }: LapseConversation, state: Conversation): ConversationDecision {
  const lapse = nextLapse(state);
  if (lapse === undefined || lapse.until > now) return { kind: 'not_due' };
  const event =
    lapse.kind === 'turn'
      ? turnFinished('lapsed', state, newContinuation)
      : sendEnded(lapse.id, 'lapsed', state, newContinuation);
  return { ...accepted(LAPSE_ACTOR, event), guard: { notBefore: lapse.until } };
}

function turnFinished(reason: 'finished' | 'lapsed', state: Conversation, newContinuation: string): Recorded {
  const begins = state.queue.length > 0 && state.sends.length === 0;
  return {
    type: 'conversation.turn_finished',
    data: {
      turn: state.turn?.id ?? '',
      reason,
      detached: state.questions.filter(({ attached }) => attached).map(({ id }) => id),
      settled: [...(state.turn?.settled ?? [])],
      continuation: begins ? newContinuation : null,
    },
  };
}

function sendEnded(
  send: string,
  reason: 'withdrawn' | 'lapsed',
  { turn, sends, queue }: Conversation,
  newContinuation: string,
): Recorded {
  const begins = turn === null && sends.length === 1 && queue.length > 0;
  const data = { send, reason, continuation: begins ? newContinuation : null };
  return { type: 'conversation.send_ended', data };
}

function isIdle({ turn, sends }: Conversation): boolean {
  return turn === null && sends.length === 0;
}

/** Of each event what a decision says; the log adds the time. */
type Recorded = ConversationEvent extends infer Event
  ? Event extends { type: infer Type; data: infer Data }
    ? { readonly type: Type; readonly data: Data }
    : never
  : never;

function accepted(actor: string, recorded: Recorded, leaseSeconds?: number) {
  const event = { ...recorded, actor, at: COMMITTED_AT } as ConversationEvent;
  const guard: Guard = leaseSeconds === undefined ? {} : { lifetimeMs: Math.round(leaseSeconds * 1_000) };
  return { kind: 'accepted', event, guard } as const;
}
