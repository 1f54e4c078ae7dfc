import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Authenticator } from '../access/authenticator.js';
import { parseJsonBody } from './json-body.js';
import { serialise } from './json-text.js';
import { missingScope } from './problem.js';
import type { RequestOf, RouteDeclaration } from './route.js';
import { validate } from './validation.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    route?: RouteDeclaration;
  }
}

const REQUEST_ID = /^[\w.:-]{1,100}$/;

/** The id of a request, for logs and as the correlation of its events: the client's, if it is harmless. */
export function requestId(raw: { headers: Record<string, string | string[] | undefined> }): string {
  const given = raw.headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
}

/** Every request's road to its handler: authentication, scope, body, schemas. In hooks, because they cost least. */
export function installPipeline(fastify: FastifyInstance, authenticator: Authenticator): void {
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    try {
      done(null, parseJsonBody(body as Buffer));
    } catch (error) {
      done(error as Error);
    }
  });
  fastify.setReplySerializer(serialise);
  fastify.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    authenticate(request, authenticator, done);
  });
  fastify.addHook('preValidation', (request: FastifyRequest, _reply: FastifyReply, done) => {
    const { route } = request.routeOptions.config;
    try {
      if (route !== undefined) validate(request, route);
      done();
    } catch (error) {
      done(error as Error);
    }
  });
}

function authenticate(
  request: FastifyRequest,
  authenticator: Authenticator,
  done: (error?: Error) => void,
): void {
  const { route } = request.routeOptions.config;
  // What has no declaration is no route of ours: the not-found handler answers it.
  if (route === undefined || route.access === 'public') return done();
  const { authorization } = request.headers;
  const known = authenticator.remembered(authorization);
  if (known !== undefined) return admit(request, route, { principal: known, done });
  authenticator.authenticate(authorization).then(
    (principal) => admit(request, route, { principal, done }),
    (error: Error) => done(error),
  );
}

interface Admission {
  readonly principal: RequestOf<RouteDeclaration>['principal'];
  readonly done: (error?: Error) => void;
}

function admit(request: FastifyRequest, { access }: RouteDeclaration, { principal, done }: Admission): void {
  if (Array.isArray(access) && !access.some((scope) => principal.scopes.has(scope))) {
    return done(missingScope(access));
  }
  (request as RequestOf<RouteDeclaration>).principal = principal;
  done();
}
