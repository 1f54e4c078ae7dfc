import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Principal } from '#contracts';
import { idempotentRequest } from '#platform';
import type { Request } from '../request.js';

interface Command extends FastifyRequest {
  readonly principal: Principal;
  readonly idempotencyKey: string | undefined;
}

/** `route` names what an Idempotency-Key is good for: the route, and what the path names. */
export function requestOf(request: Command, route: string): Request {
  const { principal, id: correlation, idempotencyKey: key } = request;
  const idempotent =
    key === undefined ? undefined : idempotentRequest({ principal, route, key, body: request.body });
  return { principal, correlation, idempotent };
}

export function markReplayed(reply: FastifyReply): void {
  reply.header('idempotency-replayed', 'true');
}
