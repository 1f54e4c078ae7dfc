import type { Envelope, QuestionEvent } from '#contracts';
import { type Decision, decide } from './decide.js';
import { envelopeOf, stateOf } from './envelope.js';
import { evolve } from './evolve.js';
import type { Asked, QuestionState } from './state.js';
import { addresseeOf } from './visibility.js';

type Accepted = Extract<Decision, { kind: 'accepted' }>;

/** What the log is asked to write for one accepted decision: the event, its guard, and the view after it. */
export function entryOf(state: QuestionState, { event, actor, guard }: Accepted) {
  const next = after(state, event);
  const { question } = next;
  return {
    tenant: question.tenant,
    stream: streamOf(question.id),
    version: next.version,
    type: event.type,
    data: JSON.stringify(event.data),
    actor,
    guard,
    view: {
      id: question.id,
      state: next.state,
      asker: question.asker,
      addressee: addresseeOf(question),
      conversation: question.conversation,
      expiresAt: guard.lifetimeMs === undefined ? question.expiresAt : null,
      defaultOption: question.defaultOption,
      envelope: JSON.stringify(envelopeOf(next)),
    },
  };
}

/** What expires a question as the view shows it; undefined when it is not due by `now`. */
export function expiryOf(view: { envelope: string; defaultOption: string | null }, now: string) {
  const state = stateOf(JSON.parse(view.envelope) as Envelope, view.defaultOption);
  const decision = decide({ kind: 'ExpireQuestion', now }, state);
  return decision.kind === 'accepted' ? entryOf(state, decision) : undefined;
}

/** The state after an event of a question that exists by then. */
export function after(state: QuestionState, event: QuestionEvent): Asked {
  const next = evolve(state, event);
  if (next.state === 'unasked') throw new Error(`${event.type} cannot be the first event of a question`);
  return next;
}

export function streamOf(id: string): string {
  return `question:${id}`;
}
