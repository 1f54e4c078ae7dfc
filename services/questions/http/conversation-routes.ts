import { z } from 'zod';
import {
  BeginSendBodySchema,
  BoundarySchema,
  FinishedTurnSchema,
  NameSchema,
  PendingContinuationSchema,
  SendSchema,
  StartedTurnSchema,
  StartTurnBodySchema,
  StoppedConversationSchema,
  WaitQuerySchema,
} from '#contracts';
import { route } from '#platform';

const ConversationParamsSchema = z.strictObject({ conversation: NameSchema });
const SendParamsSchema = ConversationParamsSchema.extend({ send: NameSchema });
const TurnParamsSchema = ConversationParamsSchema.extend({ turn: NameSchema });
const NoBodySchema = z.strictObject({});

export const beginSendRoute = route({
  method: 'POST',
  path: '/v1/conversations/:conversation/sends',
  access: ['ask'],
  summary: "Begin to admit a person's message: continuations hold back",
  params: ConversationParamsSchema,
  makes: true,
  body: BeginSendBodySchema,
  answers: { 201: SendSchema },
});
export const withdrawSendRoute = route({
  method: 'DELETE',
  path: '/v1/conversations/:conversation/sends/:send',
  access: ['ask'],
  summary: 'Say that the message was not admitted after all',
  params: SendParamsSchema,
  answers: { 204: null },
});
export const startTurnRoute = route({
  method: 'POST',
  path: '/v1/conversations/:conversation/turns',
  access: ['ask'],
  summary:
    'Start a turn: for a send, for a continuation, or for something else; what is queued is handed over',
  params: ConversationParamsSchema,
  makes: true,
  body: StartTurnBodySchema,
  answers: { 201: StartedTurnSchema },
});
export const boundaryRoute = route({
  method: 'POST',
  path: '/v1/conversations/:conversation/turns/:turn/boundary',
  access: ['ask'],
  summary: 'Receive what was queued since the turn last looked, and renew its lease',
  params: TurnParamsSchema,
  body: NoBodySchema,
  answers: { 200: BoundarySchema },
});
export const finishTurnRoute = route({
  method: 'POST',
  path: '/v1/conversations/:conversation/turns/:turn/finish',
  access: ['ask'],
  summary:
    'Finish a turn: its pending questions are detached, and those who wait for them in it are released',
  params: TurnParamsSchema,
  body: NoBodySchema,
  answers: { 200: FinishedTurnSchema },
});
export const stopConversationRoute = route({
  method: 'POST',
  path: '/v1/conversations/:conversation/stop',
  access: ['ask'],
  summary: 'Stop a conversation: its pending questions are cancelled and its queued answers dropped',
  params: ConversationParamsSchema,
  body: NoBodySchema,
  answers: { 200: StoppedConversationSchema },
});
export const deleteConversationRoute = route({
  method: 'DELETE',
  path: '/v1/conversations/:conversation',
  access: ['ask'],
  summary: 'Delete a conversation: as a stop, and its sends are over as well',
  params: ConversationParamsSchema,
  answers: { 200: StoppedConversationSchema },
});
export const continuationRoute = route({
  method: 'GET',
  path: '/v1/conversations/:conversation/wait',
  access: ['ask'],
  summary: 'Wait until a continuation is pending; it is taken by starting a turn with its id',
  params: ConversationParamsSchema,
  query: WaitQuerySchema,
  answers: { 200: PendingContinuationSchema },
});
