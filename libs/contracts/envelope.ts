import { z } from 'zod';

/** An instant as it stands on every wire: RFC 3339, UTC, milliseconds. */
export const InstantSchema = z.iso.datetime({ precision: 3 });

export const OptionSchema = z
  .strictObject({ id: z.string(), label: z.string(), description: z.string().optional() })
  .meta({ id: 'Option' });

export const ScopeSchema = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('direct'), user: z.string() }),
    z.strictObject({ kind: z.literal('room'), room: z.string() }),
  ])
  .meta({ id: 'Scope' });

/** An option as an outcome names it. */
export const ChosenOptionSchema = z
  .strictObject({ id: z.string(), label: z.string() })
  .meta({ id: 'ChosenOption' });

export const AnswerSchema = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('option'), option: ChosenOptionSchema }),
    z.strictObject({ kind: z.literal('text'), text: z.string() }),
    z.strictObject({ kind: z.literal('skipped') }),
  ])
  .meta({ id: 'Answer' });

export const OutcomeSchema = z
  .discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('answered'),
      at: InstantSchema,
      by: z.string(),
      answer: AnswerSchema,
      words: z.string(),
    }),
    z.strictObject({
      kind: z.literal('expired'),
      at: InstantSchema,
      default: ChosenOptionSchema.nullable(),
      words: z.string(),
    }),
    z.strictObject({
      kind: z.literal('cancelled'),
      at: InstantSchema,
      by: z.string(),
      reason: z.string().nullable(),
      words: z.string(),
    }),
  ])
  .meta({ id: 'Outcome' });

export const QuestionStateSchema = z.enum(['pending', 'answered', 'expired', 'cancelled']);

/** One question at one version: the same, field for field, on every surface. */
export const EnvelopeSchema = z
  .strictObject({
    object: z.literal('question'),
    id: z.uuid(),
    tenant: z.string(),
    version: z.int().positive(),
    state: QuestionStateSchema,
    asker: z.string(),
    scope: ScopeSchema,
    prompt: z.string(),
    context: z.string().nullable(),
    options: z.array(OptionSchema),
    allowText: z.boolean(),
    allowSkip: z.boolean(),
    conversation: z.string().nullable(),
    turn: z.string().nullable(),
    metadata: z.record(z.string(), z.unknown()),
    askedAt: InstantSchema,
    expiresAt: InstantSchema,
    outcome: OutcomeSchema.nullable(),
  })
  .meta({ id: 'Question' });

export type Option = z.infer<typeof OptionSchema>;
export type ChosenOption = z.infer<typeof ChosenOptionSchema>;
export type Scope = z.infer<typeof ScopeSchema>;
export type Answer = z.infer<typeof AnswerSchema>;
export type Outcome = z.infer<typeof OutcomeSchema>;
export type QuestionStateName = z.infer<typeof QuestionStateSchema>;
export type Envelope = z.infer<typeof EnvelopeSchema>;
