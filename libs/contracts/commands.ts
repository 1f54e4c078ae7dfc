import { z } from 'zod';
import { NameSchema, name, RoomNameSchema, SubjectSchema, TimeSchema, text, textOfBytes } from './text.js';

export const PROMPT_MAX_CHARACTERS = 2_000;
export const CONTEXT_MAX_BYTES = 16 * 1024;
export const METADATA_MAX_BYTES = 4 * 1024;
export const OPTIONS_MAX = 20;
export const ANSWER_TEXT_MAX_CHARACTERS = 4_000;
export const REASON_MAX_CHARACTERS = 1_000;
export const LIFETIME_MAX_SECONDS = 7_776_000;
export const LIFETIME_DEFAULT_SECONDS = 86_400;

const NewOptionSchema = z.strictObject({
  id: name(200),
  label: text(1, 500),
  description: text(1, 2_000).optional(),
});

const NewScopeSchema = z.discriminatedUnion(
  'kind',
  [
    z.strictObject({ kind: z.literal('direct'), user: SubjectSchema }),
    z.strictObject({ kind: z.literal('room'), room: RoomNameSchema }),
  ],
  { error: 'must be {"kind":"direct","user":…} or {"kind":"room","room":…}' },
);

const MetadataSchema = z
  .record(z.string(), z.json())
  .refine((value) => Buffer.byteLength(JSON.stringify(value)) <= METADATA_MAX_BYTES, {
    error: `must be at most ${METADATA_MAX_BYTES} bytes as compact JSON`,
  });

/** Body of `POST /v1/questions`. */
export const AskBodySchema = z
  .strictObject({
    prompt: text(1, PROMPT_MAX_CHARACTERS),
    context: textOfBytes(CONTEXT_MAX_BYTES).nullish(),
    options: z
      .array(NewOptionSchema)
      .max(OPTIONS_MAX, `must have at most ${OPTIONS_MAX} options`)
      .default([]),
    allowText: z.boolean().default(false),
    allowSkip: z.boolean().default(false),
    defaultOption: z.string().nullish(),
    scope: NewScopeSchema,
    expiresIn: z
      .number()
      .min(1, 'must be at least 1 second')
      .max(LIFETIME_MAX_SECONDS, `must be at most ${LIFETIME_MAX_SECONDS} seconds`)
      .optional(),
    expiresAt: TimeSchema.optional(),
    metadata: MetadataSchema.default({}),
    conversation: NameSchema.nullish(),
    turn: NameSchema.nullish(),
  })
  .check((context) => {
    const body = context.value;
    const refuse = (path: string, message: string) =>
      context.issues.push({ code: 'custom', path: [path], message, input: body });
    const ids = new Set(body.options.map((option) => option.id));
    if (ids.size < body.options.length) refuse('options', 'must have unique ids');
    if (ids.size === 0 && !body.allowText) refuse('options', 'must have an option unless allowText is true');
    if (body.defaultOption != null && !ids.has(body.defaultOption)) {
      refuse('defaultOption', 'must be the id of one of the options');
    }
    if (body.expiresIn !== undefined && body.expiresAt !== undefined) {
      refuse(
        'expiresAt',
        'must not stand beside expiresIn: give exactly one of the two, or neither for 24 hours',
      );
    }
    if (body.turn != null && body.conversation == null) refuse('turn', 'needs a conversation');
  })
  .meta({ id: 'AskQuestion' });

/** Body of `POST /v1/questions/{id}/answer`: exactly one of the three. */
export const AnswerBodySchema = z
  .strictObject({
    option: z.string().optional(),
    text: text(1, ANSWER_TEXT_MAX_CHARACTERS).optional(),
    skip: z.literal(true).optional(),
  })
  .refine((body) => Object.keys(body).length === 1, {
    error: 'must have exactly one of option, text and skip',
  })
  .meta({ id: 'AnswerQuestion' });

/** Body of `POST /v1/questions/{id}/cancel`. */
export const CancelBodySchema = z
  .strictObject({ reason: text(1, REASON_MAX_CHARACTERS).nullish() })
  .meta({ id: 'CancelQuestion' });

export type AskBody = z.infer<typeof AskBodySchema>;
export type AnswerBody = z.infer<typeof AnswerBodySchema>;
export type CancelBody = z.infer<typeof CancelBodySchema>;
