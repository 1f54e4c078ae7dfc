import type { Eligibility, FieldError, QuestionEvent } from '#contracts';
import { LIFETIME_DEFAULT_SECONDS } from '#contracts';
import { judgeChoice } from './choice.js';
import type {
  AnswerQuestion,
  AskQuestion,
  CancelQuestion,
  ExpireQuestion,
  QuestionCommand,
} from './commands.js';
import { COMMITTED_AT, DEADLINE_AT } from './commit-times.js';
import { chosen } from './evolve.js';
import type { Pending, Question, QuestionState } from './state.js';

/** What the log must find true of its clock when it commits. */
export interface Guard {
  readonly notBefore?: string;
  readonly notAfter?: string;
  /** The deadline is this long after the commit. */
  readonly lifetimeMs?: number;
  /** The actor is a member of this room. */
  readonly memberOf?: string;
}

export type Decision =
  | {
      readonly kind: 'accepted';
      readonly event: QuestionEvent;
      readonly actor: string;
      readonly guard: Guard;
    }
  /** Somebody was first; the state tells who. */
  | { readonly kind: 'settled' }
  /** Past its deadline and not settled yet: expire it, then ask again. */
  | { readonly kind: 'overdue' }
  | { readonly kind: 'not_due' }
  | { readonly kind: 'unknown_question' }
  | { readonly kind: 'already_asked' }
  | { readonly kind: 'not_eligible' }
  | { readonly kind: 'invalid_choice'; readonly errors: readonly FieldError[] };

/** The actor of an expiry. */
export const EXPIRY_ACTOR = 'system:expiry';

/** Pure. Checks stand in the contract's order: who may settle, already settled, validity of the choice. */
export function decide(command: QuestionCommand, state: QuestionState): Decision {
  switch (command.kind) {
    case 'AskQuestion':
      return state.state === 'unasked' ? ask(command) : { kind: 'already_asked' };
    case 'AnswerQuestion':
      return answer(command, state);
    case 'CancelQuestion':
      return cancel(command, state);
    case 'ExpireQuestion':
      return expire(command, state);
  }
}

function ask({ asker, body }: AskQuestion): Decision {
  const lifetimeMs = Math.round((body.expiresIn ?? LIFETIME_DEFAULT_SECONDS) * 1_000);
  const data = {
    asker,
    scope: body.scope,
    prompt: body.prompt,
    context: body.context ?? null,
    options: body.options.map(withoutGaps),
    allowText: body.allowText,
    allowSkip: body.allowSkip,
    defaultOption: body.defaultOption ?? null,
    conversation: body.conversation ?? null,
    turn: body.turn ?? null,
    metadata: body.metadata,
    expiresAt: body.expiresAt ?? DEADLINE_AT,
  };
  const guard = body.expiresAt === undefined ? { lifetimeMs } : { notAfter: body.expiresAt };
  return { kind: 'accepted', event: { type: 'question.asked', at: COMMITTED_AT, data }, actor: asker, guard };
}

function withoutGaps(option: { id: string; label: string; description?: string | undefined }) {
  const { id, label, description } = option;
  return description === undefined ? { id, label } : { id, label, description };
}

function answer(command: AnswerQuestion, state: QuestionState): Decision {
  if (state.state === 'unasked') return { kind: 'unknown_question' };
  const eligibility = eligibilityOf(command, state.question);
  if (eligibility === undefined) return { kind: 'not_eligible' };
  if (state.state !== 'pending') return { kind: 'settled' };
  if (isOverdue(state, command.now)) return { kind: 'overdue' };
  const verdict = judgeChoice(state.question, command.choice);
  if ('errors' in verdict) return { kind: 'invalid_choice', errors: verdict.errors };
  const data = { by: command.by, answer: verdict.answer, eligibility };
  const notAfter = state.question.expiresAt;
  return {
    kind: 'accepted',
    event: { type: 'question.answered', at: COMMITTED_AT, data },
    actor: command.by,
    guard: eligibility.kind === 'direct' ? { notAfter } : { notAfter, memberOf: eligibility.room },
  };
}

function eligibilityOf({ by, memberSince }: AnswerQuestion, { scope }: Question): Eligibility | undefined {
  switch (scope.kind) {
    case 'direct':
      return scope.user === by ? { kind: 'direct' } : undefined;
    case 'room':
      return memberSince === null ? undefined : { kind: 'room', room: scope.room, since: memberSince };
  }
}

function cancel(command: CancelQuestion, state: QuestionState): Decision {
  if (state.state === 'unasked') return { kind: 'unknown_question' };
  if (!command.asAdmin && state.question.asker !== command.by) return { kind: 'not_eligible' };
  if (state.state !== 'pending') return { kind: 'settled' };
  if (isOverdue(state, command.now)) return { kind: 'overdue' };
  if (command.errors !== undefined) return { kind: 'invalid_choice', errors: command.errors };
  const data = { by: command.by, reason: command.reason };
  return {
    kind: 'accepted',
    event: { type: 'question.cancelled', at: COMMITTED_AT, data },
    actor: command.by,
    guard: { notAfter: state.question.expiresAt },
  };
}

function expire(command: ExpireQuestion, state: QuestionState): Decision {
  if (state.state === 'unasked') return { kind: 'unknown_question' };
  if (state.state !== 'pending') return { kind: 'settled' };
  if (!isOverdue(state, command.now)) return { kind: 'not_due' };
  const data = { default: chosen(state.question, state.question.defaultOption) };
  return {
    kind: 'accepted',
    event: { type: 'question.expired', at: COMMITTED_AT, data },
    actor: EXPIRY_ACTOR,
    guard: { notBefore: state.question.expiresAt },
  };
}

/** Instants of one format compare as text. */
export function isOverdue(state: Pending, now: string): boolean {
  return now >= state.question.expiresAt;
}
