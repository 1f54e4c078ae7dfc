import type { Principal } from '#contracts';
import type { IdempotentRequest } from '#platform';

/** Who asks for something, and how the request is known. */
export interface Request {
  readonly principal: Principal;
  /** The id of the request; it becomes the correlation of its events. */
  readonly correlation: string;
  /** Set when the client sent an Idempotency-Key. */
  readonly idempotent: IdempotentRequest | undefined;
}
