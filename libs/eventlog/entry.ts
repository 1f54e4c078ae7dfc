/** The row of the state view after an event of a question. */
export interface QuestionView {
  readonly id: string;
  readonly state: string;
  readonly asker: string;
  readonly addressee: string;
  readonly conversation: string | null;
  /** Null when the deadline is counted from the commit (`guard.lifetimeMs`). */
  readonly expiresAt: string | null;
  readonly defaultOption: string | null;
  readonly envelope: string;
}

/** The row of a conversation after one of its events. */
export interface ConversationView {
  /** Unique in its tenant. */
  readonly id: string;
  readonly owner: string;
  /** The first instant at which something of it lapses, but for one counted from the commit (`guard.lifetimeMs`). */
  readonly lapsesAt: string | null;
  /** UUID of the continuation that is pending. */
  readonly continuation: string | null;
  /** JSON text. */
  readonly state: string;
}

/** What must be true under the writer's lock, or the entry is refused. Instants are RFC 3339 texts. */
export interface EntryGuard {
  readonly notBefore?: string;
  readonly notAfter?: string;
  readonly lifetimeMs?: number;
  /** The actor must be a member of this room. */
  readonly memberOf?: string;
}

/** One event to append at the version after the last that its writer has seen. */
export interface Entry {
  readonly tenant: string;
  readonly stream: string;
  readonly version: number;
  readonly type: string;
  /** JSON text; it is stored and hashed byte for byte, once the commit times are filled in. */
  readonly data: string;
  readonly actor: string;
  readonly guard: EntryGuard;
  readonly view: QuestionView | null;
  readonly conversation?: ConversationView;
}

/**
 * Of an event's data, and of the envelope after it, in bytes of UTF-8. A longer one is refused at once: in the log it would
 * stand in the way of everything after it, since Kafka's brokers take records of up to 1 MiB by default.
 */
export const EVENT_MAX_BYTES = 896 * 1024;

/** The event would be longer than `EVENT_MAX_BYTES`. Nothing was appended. */
export class EventTooLong extends Error {
  override readonly name = 'EventTooLong';
}

/** Commits together with the event: the retry of a request finds what the first attempt did. */
export interface Idempotency {
  /** Digest of tenant, subject, route and the client's key. */
  readonly key: Buffer;
  /** Digest of the request's body. */
  readonly request: Buffer;
  /** What to remember of the response. */
  readonly result: string;
}

export interface Append {
  readonly entry: Entry;
  /** Entries of other streams, one of each, that are appended with it or not at all. */
  readonly together?: readonly Entry[];
  /** The id of the request that caused it. */
  readonly correlation: string;
  readonly idempotency?: Idempotency;
}

export function entriesOf({ entry, together = [] }: Append): readonly Entry[] {
  return [entry, ...together];
}

/** An event as it is in the log. */
export interface LoggedEvent {
  readonly position: number;
  readonly id: string;
  readonly tenant: string;
  readonly stream: string;
  readonly version: number;
  readonly type: string;
  readonly schema: number;
  readonly at: string;
  readonly actor: string;
  readonly correlation: string;
  readonly data: string;
  readonly hash: string;
  /** JSON text of the view after this event, where it is at hand. */
  readonly envelope: string | null;
  readonly defaultOption: string | null;
}

export type AppendResult =
  | {
      readonly verdict: 'appended';
      readonly event: LoggedEvent;
      /** Of the entries that were appended together with it. */
      readonly together: readonly LoggedEvent[];
    }
  | { readonly verdict: 'replayed'; readonly result: string }
  | {
      readonly verdict: 'conflict' | 'too_early' | 'too_late' | 'not_member' | 'key_reused';
      readonly now: string;
      /** Of the entry that was refused. */
      readonly stream: string;
    };
