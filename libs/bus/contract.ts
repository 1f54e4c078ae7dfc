import { BaseRpcContext } from '@nestjs/microservices';

/*
 * The bus carries the log's events to consumer groups. Whatever transport stands behind it, a group may rely on this:
 *
 * - At least once: every event reaches every handler of its type. After a crash events are delivered again, so handlers
 *   are idempotent by the event's id or position.
 * - Order: a handler sees the events of one question one after the other, in version order. Events of different questions
 *   are handled concurrently, up to a limit.
 * - Progress is recorded only after the effects of everything up to it, so a crash repeats and never skips.
 * - A handler that throws is called again with growing pauses, a bounded number of times; then the event is put aside as a
 *   dead letter, once, and its question goes on. Meanwhile other questions go on. Of several handlers of one event only
 *   those that failed are called again.
 * - When an error says that infrastructure is unavailable, the event is retried without bound and is never a dead letter.
 * - Each event has one active member of its group; when that dies another takes over. For a moment two may overlap.
 * - Stopping lets handlers that run finish, within a bound, and records the progress; nothing new is begun.
 */

/** What every handler is told of an event, next to the envelope of its question at that event. */
export interface BusEvent {
  /** In the log: the commit order. */
  readonly position: number;
  /** UUID; the same at every delivery. */
  readonly id: string;
  readonly type: string;
  /** RFC 3339, UTC, milliseconds. */
  readonly at: string;
  readonly tenant: string;
  /** `question:<id>`. */
  readonly stream: string;
  readonly version: number;
}

/** The second argument of a handler: `(envelope: Envelope, context: LogContext)`. */
export class LogContext extends BaseRpcContext<[BusEvent]> {
  get event(): BusEvent {
    return this.args[0];
  }
}

/** How often and when a handler that throws is called again. */
export interface RetryLimits {
  /** Calls in all, before the event becomes a dead letter. */
  readonly attempts: number;
  /** The first pause; each further one is twice as long. */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
}

export const RETRY: RetryLimits = { attempts: 6, firstPauseMs: 100, longestPauseMs: 5_000 };

/** Handlers that run at the same time in one member, each for another question. */
export const MAX_CONCURRENT = 128;
/** Events that a member holds at most: those that run, wait for their question, or pause before a retry. */
export const MAX_HELD = 4_096;
/** Progress is recorded at most this often, and when the member stops. */
export const CHECKPOINT_MS = 250;
/** Handlers that still run when a member stops are waited for this long. */
export const DRAIN_MS = 10_000;
/** A member that waits for its turn, or for infrastructure, looks again this often. */
export const STANDBY_MS = 1_000;
/** An event that has been held for this long is worth a look. */
export const STUCK_MS = 60_000;

export interface BusHealth {
  readonly ok: boolean;
  /** For people. */
  readonly detail: string;
}
