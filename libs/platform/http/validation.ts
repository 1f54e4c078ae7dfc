import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { FieldError } from '#contracts';
import { invalid, notFound } from './problem.js';
import type { RequestOf, RouteDeclaration } from './route.js';

const IDEMPOTENCY_KEY_MAX_CHARACTERS = 200;

/** Parses what the route declares into `request.input`; all faults of body and query are reported together. */
export function validate(request: FastifyRequest, route: RouteDeclaration): void {
  const params = parse(route.params, request.params);
  // What cannot exist is not found; what is to be made must have a name that can.
  if (params.errors !== undefined)
    throw route.makes === true ? invalid(params.errors) : notFound('such thing');
  const query = parse(route.query, request.query);
  const body = parse(route.body, request.body ?? {});
  const faults = [...(query.errors ?? []), ...(route.judgesBody === true ? [] : (body.errors ?? []))];
  if (faults.length > 0) throw invalid(faults);
  const target = request as RequestOf<RouteDeclaration>;
  target.input = {
    params: params.value,
    query: query.value,
    body: body.value,
    bodyErrors: body.errors,
  } as never;
  if (route.method === 'POST') target.idempotencyKey = idempotencyKeyOf(request.headers['idempotency-key']);
}

interface Parsed {
  readonly value?: unknown;
  readonly errors?: readonly FieldError[];
}

const NOTHING: Parsed = {};

function parse(schema: z.ZodType | undefined, value: unknown): Parsed {
  if (schema === undefined) return NOTHING;
  const result = schema.safeParse(value, { error: typeFault });
  return result.success ? { value: result.data } : { errors: fieldErrors(result.error) };
}

/** Where a schema has no words of its own for what is missing or of another type. */
function typeFault({ code, input, expected }: z.core.$ZodRawIssue): string | undefined {
  if (code !== 'invalid_type') return undefined;
  return input === undefined ? 'is required' : `must be of type ${expected}`;
}

/** One entry per bad field, each named by its path. */
export function fieldErrors(error: z.ZodError): FieldError[] {
  return error.issues.flatMap((issue) => {
    if (issue.code !== 'unrecognized_keys') return [{ path: issue.path.join('.'), message: issue.message }];
    return issue.keys.map((key) => ({
      path: [...issue.path, key].join('.'),
      message: 'is not a known field',
    }));
  });
}

function idempotencyKeyOf(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (typeof header === 'string' && header.length >= 1 && header.length <= IDEMPOTENCY_KEY_MAX_CHARACTERS)
    return header;
  const message = `must be 1 to ${IDEMPOTENCY_KEY_MAX_CHARACTERS} characters`;
  throw invalid([{ path: 'Idempotency-Key', message }]);
}
