import type { Owed } from '#contracts';

/** A turn that runs. It counts as finished when `until` passes without a boundary. */
export interface Turn {
  readonly id: string;
  readonly leaseSeconds: number;
  /** RFC 3339 in UTC with milliseconds. */
  readonly until: string;
  /** Its questions that were settled while it ran. */
  readonly settled: readonly string[];
}

/** A person's message that is being admitted. It counts as withdrawn when `until` passes. */
export interface Send {
  readonly id: string;
  readonly until: string;
}

/** A question that waits for its outcome. `attached` as long as the turn that asked it runs. */
export interface OpenQuestion {
  readonly id: string;
  readonly attached: boolean;
}

/**
 * What a conversation is between events. A continuation is pending exactly when outcomes are queued and neither a turn runs
 * nor a send is being admitted.
 */
export interface Conversation {
  readonly version: number;
  /** Who mentioned it first; null of one that nobody has mentioned. */
  readonly owner: string | null;
  readonly turn: Turn | null;
  readonly sends: readonly Send[];
  readonly questions: readonly OpenQuestion[];
  /** In the order in which they were settled. */
  readonly queue: readonly Owed[];
  readonly continuation: string | null;
}

export const UNMENTIONED: Conversation = {
  version: 0,
  owner: null,
  turn: null,
  sends: [],
  questions: [],
  queue: [],
  continuation: null,
};

/** What lapses next, and when; undefined when nothing can. Of two at the same instant it is the send. */
export function nextLapse({ turn, sends }: Conversation): Lapse | undefined {
  const lapses: Lapse[] = sends.map(({ id, until }) => ({ kind: 'send', id, until }));
  if (turn !== null) lapses.push({ kind: 'turn', id: turn.id, until: turn.until });
  return lapses.reduce<Lapse | undefined>(
    (first, lapse) => (first === undefined || lapse.until < first.until ? lapse : first),
    undefined,
  );
}

export interface Lapse {
  readonly kind: 'send' | 'turn';
  readonly id: string;
  readonly until: string;
}
