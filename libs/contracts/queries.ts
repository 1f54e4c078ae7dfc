import { z } from 'zod';
import { EnvelopeSchema, QuestionStateSchema } from './envelope.js';
import { EventSchema } from './events.js';
import {
  integerInQuery,
  NameSchema,
  RoomNameSchema,
  SubjectSchema,
  secondsInQuery,
  TimeSchema,
} from './text.js';

export const WAIT_MAX_SECONDS = 60;
export const WAIT_DEFAULT_SECONDS = 30;
export const WAIT_ANY_MAX_IDS = 100;
export const LIST_MAX = 200;
export const LIST_DEFAULT = 50;
export const EVENTS_MAX = 1_000;
export const EVENTS_DEFAULT = 100;

const TimeoutSchema = secondsInQuery(WAIT_MAX_SECONDS).default(WAIT_DEFAULT_SECONDS);

export const FetchQuerySchema = z
  .strictObject({ version: integerInQuery(1, 2_147_483_647).optional(), at: TimeSchema.optional() })
  .refine((query) => query.version === undefined || query.at === undefined, {
    error: 'must not stand beside version: give one of the two',
    path: ['at'],
  });

export const ListQuerySchema = z.strictObject({
  state: QuestionStateSchema.optional(),
  scope: z.enum(['direct', 'room']).optional(),
  room: RoomNameSchema.optional(),
  user: SubjectSchema.optional(),
  asker: SubjectSchema.optional(),
  conversation: NameSchema.optional(),
  limit: integerInQuery(1, LIST_MAX).default(LIST_DEFAULT),
  cursor: z.string().max(500).optional(),
});

export const WaitQuerySchema = z.strictObject({ timeout: TimeoutSchema });

export const WaitAnyQuerySchema = z.strictObject({
  ids: z
    .string()
    .transform((value) => [...new Set(value.toLowerCase().split(','))])
    .pipe(
      z
        .array(z.uuid('must be question ids, separated by commas'))
        .max(WAIT_ANY_MAX_IDS, `must be at most ${WAIT_ANY_MAX_IDS} ids`),
    ),
  timeout: TimeoutSchema,
});

/** A position of the log: a string of digits on the wire. */
export const PositionInQuerySchema = integerInQuery(0, Number.MAX_SAFE_INTEGER);

export const EventsQuerySchema = z.strictObject({
  after: PositionInQuerySchema.default(0),
  limit: integerInQuery(1, EVENTS_MAX).optional(),
});

export const QuestionListSchema = z.strictObject({
  data: z.array(EnvelopeSchema),
  nextCursor: z.string().nullable(),
});
export const SettledListSchema = z.strictObject({ data: z.array(EnvelopeSchema) });
export const AttemptSchema = z
  .strictObject({ applied: z.boolean(), question: EnvelopeSchema })
  .meta({ id: 'Attempt' });
export const EventListSchema = z.strictObject({ data: z.array(EventSchema) });

export type FetchQuery = z.infer<typeof FetchQuerySchema>;
export type ListQuery = z.infer<typeof ListQuerySchema>;
export type EventsQuery = z.infer<typeof EventsQuerySchema>;
