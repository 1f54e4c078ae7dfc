import type { Envelope } from '#contracts';
import { settled } from './evolve.js';
import type { Asked, Question } from './state.js';

/** The one shape in which every surface shows a question. */
export function envelopeOf(state: Asked): Envelope {
  const { question } = state;
  return {
    object: 'question',
    id: question.id,
    tenant: question.tenant,
    version: state.version,
    state: state.state,
    asker: question.asker,
    scope: question.scope,
    prompt: question.prompt,
    context: question.context,
    options: question.options,
    allowText: question.allowText,
    allowSkip: question.allowSkip,
    conversation: question.conversation,
    turn: question.turn,
    metadata: question.metadata,
    askedAt: question.askedAt,
    expiresAt: question.expiresAt,
    outcome: state.state === 'pending' ? null : state.outcome,
  };
}

/** The state that an envelope shows; `defaultOption` is the one thing that it leaves out. */
export function stateOf(envelope: Envelope, defaultOption: string | null): Asked {
  const { object: _object, version, state: _state, outcome, ...asked } = envelope;
  const question: Question = { ...asked, defaultOption };
  return outcome === null ? { state: 'pending', version, question } : settled(question, version, outcome);
}
