import type { FastifyReply } from 'fastify';
import { idempotentRequest, type RequestOf, type RouteDeclaration } from '#platform';
import type { Outcome, WebhookRequest } from '../webhook.service.js';

/** How a request is known; of an address with an id that id is a part. */
export function requestOf(request: RequestOf<RouteDeclaration>, path: string): WebhookRequest {
  const { principal, idempotencyKey: key, body } = request;
  if (key === undefined) return { principal, idempotent: undefined };
  const route = `POST ${path}`;
  return { principal, idempotent: idempotentRequest({ principal, route, key, body }) };
}

export function sendOutcome<Result>({ result, replayed }: Outcome<Result>, reply: FastifyReply): Result {
  if (replayed) reply.header('idempotency-replayed', 'true');
  return result;
}
