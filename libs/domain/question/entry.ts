import type { Envelope, QuestionEvent } from '#contracts';
import { type Decision, decide } from './decide.js';
import { envelopeOf, stateOf } from './envelope.js';
import { evolve } from './evolve.js';
import { type Asked, type QuestionState, unasked } from './state.js';
import { addresseeOf } from './visibility.js';

const STREAM_PREFIX = 'question:';

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

/** JSON text of the envelope of a question at one of its events: the view's where it is at hand, else made from the event. */
export function envelopeAt(event: EventInLog): string {
  if (event.envelope !== null) return event.envelope;
  const { tenant, stream, type, at, data } = event;
  // The view has moved on, so this is the first event: it tells all there was.
  const first = { type, at, data: JSON.parse(data) } as QuestionEvent;
  return JSON.stringify(envelopeOf(after(unasked(tenant, stream.slice(STREAM_PREFIX.length)), first)));
}

export interface EventInLog {
  readonly tenant: string;
  readonly stream: string;
  readonly type: string;
  readonly at: string;
  readonly data: string;
  readonly envelope: string | null;
}

/** The state after an event of a question that exists by then. */
export function after(state: QuestionState, event: QuestionEvent): Asked {
  const next = evolve(state, event);
  if (next.state === 'unasked') throw new Error(`${event.type} cannot be the first event of a question`);
  return next;
}

export function streamOf(id: string): string {
  return `${STREAM_PREFIX}${id}`;
}
