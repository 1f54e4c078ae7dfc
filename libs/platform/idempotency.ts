import { createHash } from 'node:crypto';
import type pg from 'pg';
import type { Principal } from '#contracts';
import { inProgress, keyReused } from './http/problem.js';

const FIND = `SELECT request, result FROM idempotency_keys WHERE key = $1 AND at > now() - interval '24 hours'`;
const REMEMBER = `INSERT INTO idempotency_keys AS k (key, request, result, at) VALUES ($1, $2, $3, now())
  ON CONFLICT (key) DO UPDATE SET request = excluded.request, result = excluded.result, at = excluded.at
  WHERE k.at <= now() - interval '24 hours'`;
const FORGET_OLD = `DELETE FROM idempotency_keys WHERE key IN (
  SELECT key FROM idempotency_keys WHERE at <= now() - interval '24 hours' ORDER BY at LIMIT $1 FOR UPDATE SKIP LOCKED)`;

/** One request as its Idempotency-Key names it. Keys are per tenant, subject and route. */
export interface IdempotentRequest {
  readonly key: Buffer;
  readonly request: Buffer;
}

export interface Attempt {
  readonly principal: Principal;
  readonly route: string;
  readonly key: string;
  readonly body: unknown;
}

export function idempotentRequest({ principal, route, key, body }: Attempt): IdempotentRequest {
  return {
    key: digest([principal.tenant, principal.subject, route, key]),
    request: digest([JSON.stringify(body ?? {})]),
  };
}

function digest(parts: readonly string[]): Buffer {
  // JSON keeps the parts apart, whatever they contain.
  return createHash('sha256').update(JSON.stringify(parts)).digest();
}

/** The requests with an Idempotency-Key that run in this process now. */
export class RequestsInProgress {
  readonly #keys = new Set<string>();

  /** Runs `work` unless a request with the same key is running: then it is refused with 409. */
  async run<Result>(request: IdempotentRequest, work: () => Promise<Result>): Promise<Result> {
    const name = request.key.toString('base64');
    if (this.#keys.has(name)) throw inProgress();
    this.#keys.add(name);
    try {
      return await work();
    } finally {
      this.#keys.delete(name);
    }
  }
}

/** What the first request with this key left behind. Throws 422 when that one had another body. */
export async function findResult(
  client: Pick<pg.Pool, 'query'>,
  { key, request }: IdempotentRequest,
): Promise<string | undefined> {
  const { rows } = await client.query<{ request: Buffer; result: string }>(FIND, [key]);
  const found = rows[0];
  if (found === undefined) return undefined;
  if (!found.request.equals(request)) throw keyReused();
  return found.result;
}

/** Remembers the result of a request; of two at the same time the first stays. */
export async function rememberResult(
  client: Pick<pg.ClientBase, 'query'>,
  { key, request }: IdempotentRequest,
  result: string,
): Promise<boolean> {
  const { rowCount } = await client.query(REMEMBER, [key, request, result]);
  return rowCount === 1;
}

/** Forgets up to `limit` keys that are older than 24 hours; returns how many there were. */
export async function forgetOldResults(pool: pg.Pool, limit: number): Promise<number> {
  const { rowCount } = await pool.query(FORGET_OLD, [limit]);
  return rowCount ?? 0;
}
