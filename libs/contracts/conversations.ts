import { z } from 'zod';
import { InstantSchema } from './envelope.js';

/** An outcome that a conversation's agent is owed: a question and the version at which it was settled. */
export const OwedSchema = z.strictObject({ question: z.string(), version: z.int().positive() });

const id = z.string();
const idOrNull = id.nullable();
const ids = z.array(id);
const owed = z.array(OwedSchema);
/** A continuation that began with the event. */
const continuation = idOrNull;

export const ConversationQuestionAskedSchema = z.strictObject({
  question: id,
  turn: idOrNull,
  /** Whether that turn was running. */
  attached: z.boolean(),
});

export const ConversationQuestionSettledSchema = z.strictObject({
  question: id,
  version: z.int().positive(),
  /** `attached`: its turn was running and learns of it there. `cancelled`: nobody is owed that. */
  as: z.enum(['attached', 'queued', 'cancelled']),
  continuation,
});

export const ConversationSendBegunSchema = z.strictObject({
  send: id,
  until: InstantSchema,
  /** The continuation that holds back. */
  withdrawn: idOrNull,
});

export const ConversationSendEndedSchema = z.strictObject({
  send: id,
  reason: z.enum(['withdrawn', 'lapsed']),
  continuation,
});

export const ConversationTurnStartedSchema = z.strictObject({
  turn: id,
  /** What it was started for. */
  send: idOrNull,
  continuation: idOrNull,
  /** The continuation that it made needless. */
  withdrawn: idOrNull,
  leaseSeconds: z.number().positive(),
  until: InstantSchema,
  answers: owed,
});

export const ConversationBoundaryReachedSchema = z.strictObject({
  turn: id,
  until: InstantSchema,
  answers: owed,
});

export const ConversationTurnFinishedSchema = z.strictObject({
  turn: id,
  reason: z.enum(['finished', 'lapsed']),
  detached: ids,
  settled: ids,
  continuation,
});

export const ConversationStoppedSchema = z.strictObject({
  reason: z.enum(['stopped', 'deleted']),
  turn: idOrNull,
  sends: ids,
  cancelled: ids,
  dropped: owed,
  withdrawn: idOrNull,
});

const event = <Type extends string, Data extends z.ZodType>(type: Type, data: Data) =>
  z.object({ type: z.literal(type), at: InstantSchema, actor: z.string(), data });

/** What an event of a conversation says, by type. The actor of the first one is its owner. */
export const ConversationEventSchema = z.discriminatedUnion('type', [
  event('conversation.question_asked', ConversationQuestionAskedSchema),
  event('conversation.question_settled', ConversationQuestionSettledSchema),
  event('conversation.send_begun', ConversationSendBegunSchema),
  event('conversation.send_ended', ConversationSendEndedSchema),
  event('conversation.turn_started', ConversationTurnStartedSchema),
  event('conversation.boundary_reached', ConversationBoundaryReachedSchema),
  event('conversation.turn_finished', ConversationTurnFinishedSchema),
  event('conversation.stopped', ConversationStoppedSchema),
]);

export type Owed = z.infer<typeof OwedSchema>;
export type ConversationEvent = z.infer<typeof ConversationEventSchema>;
