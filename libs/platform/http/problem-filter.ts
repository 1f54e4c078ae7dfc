import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { isDatabaseUnavailable } from '../database.js';
import { BODY_MAX_BYTES } from './json-body.js';
import { methodNotAllowed, notFound, Problem, unavailable } from './problem.js';

const OUTAGE_LOG_INTERVAL_MS = 1_000;

/** Turns whatever was thrown into problem details; what is not expected is logged and told to nobody. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  #outageLoggedAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly logger: Logger,
    private readonly allowedMethods: (path: string) => readonly string[],
  ) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const problem = this.#problemOf(error, request);
    this.#log(problem, error, request);
    if (!reply.sent) sendProblem(reply, problem);
  }

  /** An outage makes every request fail in the same way: one line a second tells it. */
  #log({ status }: Problem, error: unknown, { id: requestId, routeOptions }: FastifyRequest): void {
    if (status < 500) return;
    const now = performance.now();
    if (status === 503 && now - this.#outageLoggedAt < OUTAGE_LOG_INTERVAL_MS) return;
    if (status === 503) this.#outageLoggedAt = now;
    this.logger.error({ requestId, route: routeOptions.url, error: describe(error) }, 'request failed');
  }

  #problemOf(error: unknown, request: FastifyRequest): Problem {
    if (error instanceof Problem) return error;
    if (isDatabaseUnavailable(error)) return unavailable();
    const status = statusOf(error);
    if (status === 404) return this.#noSuchRoute(request);
    return PROBLEMS[status] ?? internal();
  }

  #noSuchRoute(request: FastifyRequest): Problem {
    const allowed = this.allowedMethods(request.url.split('?', 1)[0] as string);
    return allowed.length > 0 ? methodNotAllowed(allowed) : notFound('such address');
  }
}

export function sendProblem(reply: FastifyReply, problem: Problem): void {
  reply
    .code(problem.status)
    .headers(problem.headers)
    .header('content-type', 'application/problem+json')
    .send(problem.body);
}

const PROBLEMS: Readonly<Record<number, Problem>> = {
  400: new Problem({ status: 400, code: 'malformed_request', detail: 'the request is not well formed' }),
  413: new Problem({
    status: 413,
    code: 'body_too_large',
    detail: `the body is larger than ${BODY_MAX_BYTES} bytes`,
  }),
  415: new Problem({
    status: 415,
    code: 'unsupported_media_type',
    detail: 'the body must be application/json',
    headers: { accept: 'application/json' },
  }),
};

function internal(): Problem {
  return new Problem({
    status: 500,
    code: 'internal',
    detail: 'something is wrong on our side; it was logged',
  });
}

function statusOf(error: unknown): number {
  if (error instanceof HttpException) return error.getStatus();
  if (error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number')
    return error.statusCode;
  return 500;
}

/** Name and place of an error, without what it was about: messages of drivers quote data. */
function describe(error: unknown): { name: string; code?: unknown; stack?: string } {
  if (!(error instanceof Error)) return { name: typeof error };
  const stack = error.stack
    ?.split('\n')
    .filter((line) => line.startsWith('    at '))
    .join('\n');
  return { name: error.name, code: 'code' in error ? error.code : undefined, stack: stack ?? '' };
}
