import { STATUS_CODES } from 'node:http';
import type { FieldError, ProblemBody } from '#contracts';

export interface ProblemOptions {
  readonly status: number;
  /** One word for programs, such as `not_eligible`. */
  readonly code: string;
  /** What is wrong and what is accepted, for people. */
  readonly detail: string;
  readonly errors?: readonly FieldError[];
  readonly headers?: Readonly<Record<string, string>>;
}

/** An expected refusal on its way to the client as problem details (RFC 9457). */
export class Problem extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ProblemBody;

  constructor({ status, code, detail, errors, headers = {} }: ProblemOptions) {
    super(detail);
    this.status = status;
    this.headers = headers;
    const title = STATUS_CODES[status] ?? 'Error';
    this.body = { type: `urn:settled:problem:${code}`, title, status, detail, code };
    if (errors !== undefined) this.body.errors = [...errors];
  }
}

const UNAVAILABLE_RETRY_SECONDS = 1;
const IN_PROGRESS_RETRY_SECONDS = 1;

export function unauthenticated(detail: string): Problem {
  const headers = { 'www-authenticate': 'Bearer realm="settled"' };
  return new Problem({ status: 401, code: 'unauthenticated', detail, headers });
}

export function missingScope(needed: readonly string[]): Problem {
  const detail = `this key lacks the scope: ${needed.join(' or ')}`;
  const headers = {
    'www-authenticate': `Bearer realm="settled", error="insufficient_scope", scope="${needed.join(' ')}"`,
  };
  return new Problem({ status: 403, code: 'insufficient_scope', detail, headers });
}

export function notFound(what: string): Problem {
  return new Problem({
    status: 404,
    code: 'not_found',
    detail: `there is no ${what} here, or it is not yours to see`,
  });
}

export function invalid(errors: readonly FieldError[]): Problem {
  const detail = errors
    .map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
    .join('; ');
  return new Problem({ status: 422, code: 'invalid_request', detail, errors });
}

export function methodNotAllowed(allowed: readonly string[]): Problem {
  const allow = allowed.join(', ');
  const detail = `this path takes ${allow}`;
  return new Problem({ status: 405, code: 'method_not_allowed', detail, headers: { allow } });
}

export function keyReused(): Problem {
  const detail = 'this Idempotency-Key came with another body before: use a new key for a new request';
  return new Problem({ status: 422, code: 'idempotency_key_reused', detail });
}

export function inProgress(): Problem {
  const detail = 'the first request with this Idempotency-Key is still running';
  const headers = { 'retry-after': String(IN_PROGRESS_RETRY_SECONDS) };
  return new Problem({ status: 409, code: 'idempotency_in_progress', detail, headers });
}

export function unavailable(): Problem {
  const detail = 'the database cannot be reached: try again; with an Idempotency-Key nothing is done twice';
  const headers = { 'retry-after': String(UNAVAILABLE_RETRY_SECONDS) };
  return new Problem({ status: 503, code: 'unavailable', detail, headers });
}
