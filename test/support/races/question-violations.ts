import { isDeepStrictEqual } from 'node:util';
import { EnvelopeSchema, type QuestionEvent, QuestionEventSchema } from '#contracts';
import {
  type Asked,
  addresseeOf,
  EXPIRY_ACTOR,
  envelopeOf,
  evolve,
  type Question,
  type QuestionState,
  unasked,
} from '#domain';
import { millisecondsOf } from './log-violations.js';
import type { StoredEvent, StoredOpenQuestion, StoredView } from './stored-log.js';

const TERMINAL = new Set(['question.answered', 'question.expired', 'question.cancelled']);

export interface StoredQuestion {
  readonly history: readonly StoredEvent[];
  readonly view: StoredView | undefined;
  readonly open: StoredOpenQuestion | undefined;
}

/** What is wrong with one question: with its history, with its guards, and with the views that are kept of it. */
export function questionViolations({ history, view, open }: StoredQuestion): string[] {
  const [first] = history as [StoredEvent, ...StoredEvent[]];
  const id = first.stream.slice('question:'.length);
  const events = history.map(questionEvent);
  const state = events.reduce(evolve, unasked(first.tenant, id) as QuestionState);
  const faults =
    state.state === 'unasked'
      ? ['was never asked']
      : [
          ...historyFaults(history),
          ...events.flatMap((event) => guardFaults(event, state.question)),
          ...history.flatMap((event, index) => actorFaults(event.actor, events[index] as QuestionEvent)),
          ...viewFaults(state, view),
          ...openFaults(state, open),
        ];
  return faults.map((fault) => `question ${id} ${fault}`);
}

function questionEvent({ type, at, data }: StoredEvent): QuestionEvent {
  return QuestionEventSchema.parse({ type, at: millisecondsOf(at), data: JSON.parse(data) });
}

function historyFaults(history: readonly StoredEvent[]): string[] {
  const ends = history.filter(({ type }) => TERMINAL.has(type));
  const asks = history.filter(({ type }) => type === 'question.asked');
  return [
    ...(ends.length <= 1 ? [] : [`was settled ${ends.length} times`]),
    ...(ends.length === 0 || TERMINAL.has(history.at(-1)?.type ?? '') ? [] : ['goes on after its end']),
    ...(asks.length === 1 && history[0] === asks[0] ? [] : ['was not asked once, first']),
  ];
}

function guardFaults(event: QuestionEvent, question: Question): string[] {
  const late = event.at >= question.expiresAt;
  if (event.type === 'question.expired') {
    return late ? [] : [`expired at ${event.at}, before ${question.expiresAt}`];
  }
  return late ? [`has ${event.type} at ${event.at}, not before ${question.expiresAt}`] : [];
}

function actorFaults(actor: string, event: QuestionEvent): string[] {
  const expected = actorOf(event);
  return actor === expected ? [] : [`has ${event.type} by ${actor}, which says ${expected}`];
}

function actorOf(event: QuestionEvent): string {
  switch (event.type) {
    case 'question.asked':
      return event.data.asker;
    case 'question.answered':
    case 'question.cancelled':
      return event.data.by;
    case 'question.expired':
      return EXPIRY_ACTOR;
  }
}

function viewFaults(state: Asked, view: StoredView | undefined): string[] {
  if (view === undefined) return ['has no view'];
  const { question } = state;
  const { envelope, expiresAt, ...columns } = view;
  const expected = {
    tenant: question.tenant,
    id: question.id,
    version: state.version,
    state: state.state,
    asker: question.asker,
    addressee: addresseeOf(question),
    conversation: question.conversation,
    defaultOption: question.defaultOption,
  };
  const shown = EnvelopeSchema.parse(JSON.parse(envelope));
  return [
    ...(isDeepStrictEqual(columns, expected) ? [] : [`has a view with ${JSON.stringify(columns)}`]),
    ...(isDeepStrictEqual(shown, envelopeOf(state)) ? [] : [`is not what its view shows: ${envelope}`]),
    ...(millisecondsOf(expiresAt) === question.expiresAt ? [] : [`has a view that expires at ${expiresAt}`]),
  ];
}

function openFaults(state: Asked, open: StoredOpenQuestion | undefined): string[] {
  if (state.state !== 'pending') return open === undefined ? [] : [`is ${state.state} and counts as open`];
  if (open === undefined) return ['is pending and does not count as open'];
  const expiresAt = millisecondsOf(open.expiresAt);
  return expiresAt === state.question.expiresAt ? [] : [`counts as open until ${open.expiresAt}`];
}
