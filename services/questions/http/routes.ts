import { z } from 'zod';
import {
  AnswerBodySchema,
  AskBodySchema,
  AttemptSchema,
  CancelBodySchema,
  CreatedKeySchema,
  CreateKeyBodySchema,
  EnvelopeSchema,
  EventListSchema,
  EventsQuerySchema,
  FetchQuerySchema,
  IdSchema,
  KeyListSchema,
  ListQuerySchema,
  QuestionListSchema,
  RoomNameSchema,
  RoomSchema,
  SettledListSchema,
  SubjectSchema,
  WaitAnyQuerySchema,
  WaitQuerySchema,
} from '#contracts';
import { route } from '#platform';

const QuestionParamsSchema = z.strictObject({ id: IdSchema });
const KeyParamsSchema = z.strictObject({ id: IdSchema });
const RoomParamsSchema = z.strictObject({ room: RoomNameSchema });
const MemberParamsSchema = z.strictObject({ room: RoomNameSchema, subject: SubjectSchema });

export const askRoute = route({
  method: 'POST',
  path: '/v1/questions',
  access: ['ask'],
  summary: 'Ask a question',
  body: AskBodySchema,
  answers: { 201: EnvelopeSchema },
});
export const fetchRoute = route({
  method: 'GET',
  path: '/v1/questions/:id',
  access: 'any',
  summary: 'Fetch a question, as it is or as it stood at a version or a time',
  params: QuestionParamsSchema,
  query: FetchQuerySchema,
  answers: { 200: EnvelopeSchema, 304: null },
});
export const listRoute = route({
  method: 'GET',
  path: '/v1/questions',
  access: 'any',
  summary: 'List the questions that the caller may see, newest first',
  query: ListQuerySchema,
  answers: { 200: QuestionListSchema },
});
export const waitRoute = route({
  method: 'GET',
  path: '/v1/questions/:id/wait',
  access: 'any',
  summary: 'Wait until a question settles',
  params: QuestionParamsSchema,
  query: WaitQuerySchema,
  answers: { 200: EnvelopeSchema },
});
export const waitAnyRoute = route({
  method: 'GET',
  path: '/v1/questions/wait',
  access: 'any',
  summary: 'Wait until one of several questions settles',
  query: WaitAnyQuerySchema,
  answers: { 200: SettledListSchema },
});
export const answerRoute = route({
  method: 'POST',
  path: '/v1/questions/:id/answer',
  access: ['answer'],
  summary: 'Answer a question',
  params: QuestionParamsSchema,
  body: AnswerBodySchema,
  judgesBody: true,
  answers: { 200: AttemptSchema },
});
export const cancelRoute = route({
  method: 'POST',
  path: '/v1/questions/:id/cancel',
  access: ['ask', 'admin'],
  summary: 'Withdraw a question',
  params: QuestionParamsSchema,
  body: CancelBodySchema,
  judgesBody: true,
  answers: { 200: AttemptSchema },
});
export const historyRoute = route({
  method: 'GET',
  path: '/v1/questions/:id/events',
  access: 'any',
  summary: 'The history of a question, oldest first',
  params: QuestionParamsSchema,
  answers: { 200: EventListSchema },
});
export const feedRoute = route({
  method: 'GET',
  path: '/v1/events',
  access: ['audit'],
  summary: "The tenant's log in position order: as JSON, as NDJSON or followed as server-sent events",
  query: EventsQuerySchema,
  answers: { 200: EventListSchema },
});
export const inboxRoute = route({
  method: 'GET',
  path: '/v1/inbox',
  access: ['answer'],
  summary: "The caller's open questions and their ends, as server-sent events: ping and retract",
  answers: { 200: { media: ['text/event-stream'] } },
});
export const putRoomRoute = route({
  method: 'PUT',
  path: '/v1/rooms/:room',
  access: ['admin'],
  summary: 'Make sure that a room exists',
  makes: true,
  params: RoomParamsSchema,
  answers: { 200: RoomSchema },
});
export const getRoomRoute = route({
  method: 'GET',
  path: '/v1/rooms/:room',
  access: 'any',
  summary: 'A room and its members',
  params: RoomParamsSchema,
  answers: { 200: RoomSchema },
});
export const joinRoomRoute = route({
  method: 'PUT',
  path: '/v1/rooms/:room/members/:subject',
  access: ['admin'],
  summary: 'Make somebody a member of a room',
  makes: true,
  params: MemberParamsSchema,
  answers: { 204: null },
});
export const leaveRoomRoute = route({
  method: 'DELETE',
  path: '/v1/rooms/:room/members/:subject',
  access: ['admin'],
  summary: 'Take somebody out of a room',
  params: MemberParamsSchema,
  answers: { 204: null },
});
export const createKeyRoute = route({
  method: 'POST',
  path: '/v1/keys',
  access: ['admin'],
  summary: 'Make a key; only this response ever shows it',
  body: CreateKeyBodySchema,
  answers: { 201: CreatedKeySchema },
});
export const listKeysRoute = route({
  method: 'GET',
  path: '/v1/keys',
  access: ['admin'],
  summary: 'List the live keys, without their secrets',
  answers: { 200: KeyListSchema },
});
export const revokeKeyRoute = route({
  method: 'DELETE',
  path: '/v1/keys/:id',
  access: ['admin'],
  summary: 'Revoke a key, at once',
  params: KeyParamsSchema,
  answers: { 204: null },
});
