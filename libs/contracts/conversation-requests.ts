import { z } from 'zod';
import { EnvelopeSchema } from './envelope.js';
import { NameSchema } from './text.js';

export const TURN_LEASE_DEFAULT_SECONDS = 900;
export const TURN_LEASE_MIN_SECONDS = 10;
export const TURN_LEASE_MAX_SECONDS = 86_400;

/** Body of `POST /v1/conversations/{c}/sends`. */
export const BeginSendBodySchema = z
  .strictObject({ send: NameSchema.optional().describe('Made by the server when it is left out') })
  .meta({ id: 'BeginSend' });

/** Body of `POST /v1/conversations/{c}/turns`. */
export const StartTurnBodySchema = z
  .strictObject({
    turn: NameSchema.optional().describe('Made by the server when it is left out'),
    send: NameSchema.nullish().describe('The send that is admitted thereby'),
    continuation: z.string().max(200).nullish().describe('The continuation that is taken'),
    leaseSeconds: z
      .number()
      .min(TURN_LEASE_MIN_SECONDS, `must be at least ${TURN_LEASE_MIN_SECONDS} seconds`)
      .max(TURN_LEASE_MAX_SECONDS, `must be at most ${TURN_LEASE_MAX_SECONDS} seconds`)
      .default(TURN_LEASE_DEFAULT_SECONDS),
  })
  .meta({ id: 'StartTurn' });

/** Outcomes of detached questions, in the order in which they were settled. */
const AnswersSchema = z.array(EnvelopeSchema);

export const SendSchema = z.strictObject({ send: z.string() }).meta({ id: 'Send' });
export const StartedTurnSchema = z
  .strictObject({ turn: z.string(), answers: AnswersSchema })
  .meta({ id: 'StartedTurn' });
export const BoundarySchema = z.strictObject({ answers: AnswersSchema }).meta({ id: 'Boundary' });
export const FinishedTurnSchema = z
  .strictObject({
    detached: z.array(z.uuid()).describe('Questions of the turn that are still pending'),
    settled: z.array(z.uuid()).describe('Questions of the turn that settled while it ran; never queued'),
    continuation: z.uuid().nullable().describe('The turn that is due for what is queued'),
  })
  .meta({ id: 'FinishedTurn' });
export const StoppedConversationSchema = z
  .strictObject({
    cancelled: z.array(z.uuid()).describe('Questions that were pending'),
    dropped: z.int().min(0).describe('How many outcomes were queued'),
  })
  .meta({ id: 'StoppedConversation' });
export const ContinuationSchema = z
  .strictObject({ id: z.uuid(), answers: AnswersSchema })
  .meta({ id: 'Continuation' });
export const PendingContinuationSchema = z
  .strictObject({ continuation: ContinuationSchema.nullable() })
  .meta({ id: 'PendingContinuation' });

export type BeginSendBody = z.output<typeof BeginSendBodySchema>;
export type StartTurnBody = z.output<typeof StartTurnBodySchema>;
