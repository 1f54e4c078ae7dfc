import { randomUUID } from 'node:crypto';
import { type AnswerBody, type AskBody, AskBodySchema, type Envelope, type QuestionEvent } from '#contracts';
import {
  after,
  decide,
  entryOf,
  envelopeOf,
  type QuestionCommand,
  type QuestionState,
  stateOf,
  unasked,
} from '#domain';
import type { EventLog, LoggedEvent } from '#eventlog';
import { append } from './log.js';

export const TENANT = 'acme';
export const ASKER = 'agent:deployer';
export const RESPONDER = 'user:ada';

const BODY = AskBodySchema.parse({
  prompt: 'Deploy build 1234?',
  options: [
    { id: 'yes', label: 'Yes' },
    { id: 'no', label: 'No' },
  ],
  scope: { kind: 'direct', user: RESPONDER },
});

/** Asks a question through the domain and the log, as the service does. */
export function askQuestion(log: EventLog, change: Partial<AskBody> = {}): Promise<LoggedEvent> {
  const command: QuestionCommand = { kind: 'AskQuestion', asker: ASKER, body: { ...BODY, ...change } };
  return record(log, unasked(TENANT, randomUUID()), command);
}

/** Answers a question that was asked so. */
export function answerQuestion(log: EventLog, id: string): Promise<LoggedEvent> {
  return answer(log, id, { option: 'yes' });
}

export function answerInWords(log: EventLog, id: string, text: string): Promise<LoggedEvent> {
  return answer(log, id, { text });
}

async function answer(log: EventLog, id: string, body: AnswerBody): Promise<LoggedEvent> {
  const { question, now } = await log.load({ tenant: TENANT, id, subject: RESPONDER });
  if (question === null) throw new Error(`There is no question ${id}`);
  const state = stateOf(JSON.parse(question.envelope) as Envelope, question.defaultOption);
  const by = RESPONDER;
  return record(log, state, { kind: 'AnswerQuestion', by, memberSince: null, choice: { body }, now });
}

export function idOf(event: Pick<LoggedEvent, 'stream'>): string {
  return event.stream.slice('question:'.length);
}

/** JSON text of the envelope at an event, also where the view has moved on. */
export function projectEnvelope(event: LoggedEvent): string {
  if (event.envelope !== null) return event.envelope;
  const { type, at, data } = event;
  const asked = { type, at, data: JSON.parse(data) } as QuestionEvent;
  return JSON.stringify(envelopeOf(after(unasked(event.tenant, idOf(event)), asked)));
}

function record(log: EventLog, state: QuestionState, command: QuestionCommand): Promise<LoggedEvent> {
  const decision = decide(command, state);
  if (decision.kind !== 'accepted') throw new Error(`${command.kind} is refused: ${decision.kind}`);
  return append(log, { entry: entryOf(state, decision), correlation: 'test' });
}
