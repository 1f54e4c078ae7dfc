import type { ChosenOption, Outcome, QuestionEvent } from '#contracts';
import type { Asked, Question, QuestionState, Settled } from './state.js';
import { answeredWords, cancelledWords, expiredWords } from './words.js';

/** Folds one event into the state. It never refuses: history is fact. What can't follow changes nothing. */
export function evolve(state: QuestionState, event: QuestionEvent): QuestionState {
  if (event.type === 'question.asked') {
    if (state.state !== 'unasked') return state;
    const question: Question = { id: state.id, tenant: state.tenant, askedAt: event.at, ...event.data };
    return { state: 'pending', version: 1, question };
  }
  if (state.state !== 'pending') return state;
  return settled(state.question, state.version + 1, outcomeOf(event));
}

type TerminalEvent = Exclude<QuestionEvent, { type: 'question.asked' }>;

function outcomeOf(event: TerminalEvent): Outcome {
  const { at } = event;
  switch (event.type) {
    case 'question.answered': {
      const { by, answer } = event.data;
      return { kind: 'answered', at, by, answer, words: answeredWords(by, answer) };
    }
    case 'question.expired': {
      const fallback = event.data.default;
      return { kind: 'expired', at, default: fallback, words: expiredWords(fallback) };
    }
    case 'question.cancelled': {
      const { by, reason } = event.data;
      return { kind: 'cancelled', at, by, reason, words: cancelledWords(by, reason) };
    }
  }
}

/** The state of a question with that outcome. */
export function settled(question: Question, version: number, outcome: Outcome): Asked {
  // The union is discriminated by one word that `state` and `outcome.kind` share.
  return { state: outcome.kind, version, question, outcome } as Settled<'answered'>;
}

/** An option of the question as an outcome names it. */
export function chosen(question: Question, id: string | null): ChosenOption | null {
  const option = question.options.find((candidate) => candidate.id === id);
  return option === undefined ? null : { id: option.id, label: option.label };
}
