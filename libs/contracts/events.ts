import { z } from 'zod';
import { AnswerSchema, ChosenOptionSchema, InstantSchema, OptionSchema, ScopeSchema } from './envelope.js';

/** The schema version that new events are written with. */
export const EVENT_SCHEMA = 1;

export const QuestionAskedSchema = z.strictObject({
  asker: z.string(),
  scope: ScopeSchema,
  prompt: z.string(),
  context: z.string().nullable(),
  options: z.array(OptionSchema),
  allowText: z.boolean(),
  allowSkip: z.boolean(),
  defaultOption: z.string().nullable(),
  conversation: z.string().nullable(),
  turn: z.string().nullable(),
  metadata: z.record(z.string(), z.unknown()),
  expiresAt: InstantSchema,
});

/** Why the one who answered was allowed to: `since` is when they joined the room. */
export const EligibilitySchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('direct') }),
  z.strictObject({ kind: z.literal('room'), room: z.string(), since: InstantSchema }),
]);

export const QuestionAnsweredSchema = z.strictObject({
  by: z.string(),
  answer: AnswerSchema,
  eligibility: EligibilitySchema,
});

export const QuestionExpiredSchema = z.strictObject({ default: ChosenOptionSchema.nullable() });

export const QuestionCancelledSchema = z.strictObject({ by: z.string(), reason: z.string().nullable() });

/** What a question event says, by type. `at` is the log's time of it. */
export const QuestionEventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('question.asked'), at: InstantSchema, data: QuestionAskedSchema }),
  z.object({ type: z.literal('question.answered'), at: InstantSchema, data: QuestionAnsweredSchema }),
  z.object({ type: z.literal('question.expired'), at: InstantSchema, data: QuestionExpiredSchema }),
  z.object({ type: z.literal('question.cancelled'), at: InstantSchema, data: QuestionCancelledSchema }),
]);

/** An event of the log as REST shows it. */
export const EventSchema = z
  .strictObject({
    position: z.string(),
    id: z.uuid(),
    stream: z.string(),
    version: z.int().positive(),
    type: z.string(),
    schema: z.int().positive(),
    at: InstantSchema,
    actor: z.string(),
    data: z.record(z.string(), z.unknown()),
    hash: z.string(),
  })
  .meta({ id: 'Event' });

export type QuestionAsked = z.infer<typeof QuestionAskedSchema>;
export type QuestionAnswered = z.infer<typeof QuestionAnsweredSchema>;
export type QuestionExpired = z.infer<typeof QuestionExpiredSchema>;
export type QuestionCancelled = z.infer<typeof QuestionCancelledSchema>;
export type Eligibility = z.infer<typeof EligibilitySchema>;
export type QuestionEvent = z.infer<typeof QuestionEventSchema>;
