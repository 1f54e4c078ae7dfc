import fc from 'fast-check';
import { type AnswerBody, type AskBody, AskBodySchema, type QuestionEvent } from '#contracts';
import type { QuestionCommand } from '#domain';
import {
  ADA,
  ASKED_AT,
  ASKER,
  answered,
  asked,
  cancelled,
  expired,
  JOINED_AT,
  STRANGER,
} from './question-spec.js';

export const START_MS = Date.parse(ASKED_AT);

/** Well-formed Unicode, and the texts that look like the log's holes without being them. */
const words = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }).filter((text) => /\S/.test(text)),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('"\\ud800"', '\\ud801', '"', '\\"\\ud800\\"', 'Yes', ' Yes\n', '👩‍👩‍👧'),
  },
);

const subjects = fc.constantFrom(ADA, ASKER, 'user:bo', STRANGER);
const optionIds = fc.constantFrom('yes', 'no', 'later', '__proto__', 'constructor');

export const askBodies: fc.Arbitrary<AskBody> = fc
  .record({
    prompt: words,
    context: fc.option(words),
    options: fc.uniqueArray(fc.record({ id: optionIds, label: words }), {
      selector: ({ id }) => id,
      maxLength: 4,
    }),
    allowText: fc.boolean(),
    allowSkip: fc.boolean(),
    scope: fc.constantFrom({ kind: 'direct', user: ADA }, { kind: 'room', room: 'ops' }),
    metadata: fc.dictionary(fc.constantFrom('build', 'why', '\\ud800'), words),
    lifetime: fc.oneof(
      fc.constantFrom(1, 1.5, 3).map((expiresIn) => ({ expiresIn })),
      fc.integer({ min: 1, max: 3_000 }).map((ms) => ({ expiresAt: new Date(START_MS + ms).toISOString() })),
    ),
    default: fc.nat({ max: 8 }),
  })
  .map(({ lifetime, default: chosen, ...body }) =>
    AskBodySchema.parse({
      ...body,
      ...lifetime,
      allowText: body.allowText || body.options.length === 0,
      defaultOption: body.options[chosen]?.id,
    }),
  );

const answerBodies: fc.Arbitrary<AnswerBody> = fc.oneof(
  optionIds.map((option) => ({ option })),
  words.map((text) => ({ text })),
  fc.constant<AnswerBody>({ skip: true }),
);

/** A command before anybody knows when it will be decided. */
export type UntimedCommand = (now: string) => QuestionCommand;

export const commands: fc.Arbitrary<UntimedCommand> = fc.oneof(
  fc
    .record({ asker: subjects, body: askBodies })
    .map((ask) => () => ({ kind: 'AskQuestion' as const, ...ask })),
  {
    weight: 4,
    arbitrary: fc
      .record({ by: subjects, memberSince: fc.option(fc.constant(JOINED_AT)), body: answerBodies })
      .map(({ body, ...who }) => (now: string) => ({
        kind: 'AnswerQuestion' as const,
        ...who,
        choice: { body },
        now,
      })),
  },
  fc
    .record({ by: subjects, asAdmin: fc.boolean(), reason: fc.option(words) })
    .map((cancel) => (now: string) => ({ kind: 'CancelQuestion' as const, ...cancel, now })),
  { weight: 2, arbitrary: fc.constant((now: string) => ({ kind: 'ExpireQuestion' as const, now })) },
);

/** Well-formed events, each for itself; together they may be no possible history. */
export const events: fc.Arbitrary<QuestionEvent> = fc.oneof(
  words.map((prompt) => asked({ prompt })),
  words.map((label) => answered({ id: 'yes', label })),
  fc.option(words).map((label) => expired(label === null ? null : { id: 'yes', label })),
  fc.option(words).map((reason) => cancelled(reason)),
);
