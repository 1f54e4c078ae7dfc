import { expect } from '@jest/globals';
import { type AnswerBody, AskBodySchema, type QuestionAsked, type QuestionEvent } from '#contracts';
import { type Decision, decide, evolve, type QuestionCommand, type QuestionState, unasked } from '#domain';

export const TENANT = 'default';
export const QUESTION_ID = '01939a4e-0000-7000-8000-000000000001';

export const ASKER = 'agent:deployer';
export const ADA = 'user:ada';
export const STRANGER = 'user:mallory';

export const ASKED_AT = '2026-11-30T17:00:00.000Z';
export const JOINED_AT = '2026-11-30T17:10:00.000Z';
export const IN_TIME = '2026-11-30T17:30:00.000Z';
export const LAST_INSTANT = '2026-11-30T17:59:59.999Z';
export const DEADLINE = '2026-11-30T18:00:00.000Z';
export const AFTERWARDS = '2026-11-30T18:00:00.001Z';

export const YES = { id: 'yes', label: 'Yes' };
export const NO = { id: 'no', label: 'No' };

/** The state of one question after its history. */
export function stateAfter(...history: readonly QuestionEvent[]): QuestionState {
  return history.reduce(evolve, unasked(TENANT, QUESTION_ID) as QuestionState);
}

/** `given(history).when(command)`, then what is decided: `.thenDecides(…)`, or `.thenRecords(…)` for an accepted one. */
export function given(...history: readonly QuestionEvent[]) {
  return {
    when(command: QuestionCommand) {
      const decision = decide(command, stateAfter(...history));
      return {
        decision,
        thenDecides(expected: Decision): void {
          expect(decision).toStrictEqual(expected);
        },
        /** The event's type, and those of its data that are given: each of them exactly. */
        thenRecords(type: QuestionEvent['type'], data: Readonly<Record<string, unknown>>): void {
          const event = decision.kind === 'accepted' ? decision.event : undefined;
          const recorded = Object.entries(event?.data ?? {}).filter(([key]) => key in data);
          expect([event?.type, Object.fromEntries(recorded)]).toStrictEqual([type, data]);
        },
      };
    },
  };
}

export function asked(data: Partial<QuestionAsked> = {}, at = ASKED_AT): QuestionEvent {
  return {
    type: 'question.asked',
    at,
    data: {
      asker: ASKER,
      scope: { kind: 'direct', user: ADA },
      prompt: 'Deploy build 1234?',
      context: null,
      options: [YES, NO],
      allowText: false,
      allowSkip: false,
      defaultOption: null,
      conversation: null,
      turn: null,
      metadata: {},
      expiresAt: DEADLINE,
      ...data,
    },
  };
}

export function answered(option = YES, at = IN_TIME): QuestionEvent {
  const data = {
    by: ADA,
    answer: { kind: 'option' as const, option },
    eligibility: { kind: 'direct' as const },
  };
  return { type: 'question.answered', at, data };
}

export function expired(fallback: typeof YES | null = null, at = DEADLINE): QuestionEvent {
  return { type: 'question.expired', at, data: { default: fallback } };
}

export function cancelled(reason: string | null = null, at = IN_TIME): QuestionEvent {
  return { type: 'question.cancelled', at, data: { by: ASKER, reason } };
}

export function ask(body: Readonly<Record<string, unknown>> = {}): QuestionCommand {
  const wire = {
    prompt: 'Deploy build 1234?',
    options: [YES, NO],
    scope: { kind: 'direct', user: ADA },
    ...body,
  };
  return { kind: 'AskQuestion', asker: ASKER, body: AskBodySchema.parse(wire) };
}

interface AnswerGiven {
  readonly by?: string;
  readonly memberSince?: string | null;
  readonly now?: string;
}

export function answer(
  body: AnswerBody,
  { by = ADA, memberSince = null, now = IN_TIME }: AnswerGiven = {},
): QuestionCommand {
  return { kind: 'AnswerQuestion', by, memberSince, choice: { body }, now };
}

interface CancelGiven {
  readonly by?: string;
  readonly asAdmin?: boolean;
  readonly reason?: string | null;
  readonly now?: string;
}

export function cancel({
  by = ASKER,
  asAdmin = false,
  reason = null,
  now = IN_TIME,
}: CancelGiven = {}): QuestionCommand {
  return { kind: 'CancelQuestion', by, asAdmin, reason, now };
}

export function expire(now = DEADLINE): QuestionCommand {
  return { kind: 'ExpireQuestion', now };
}
