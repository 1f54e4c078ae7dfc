import type { Outcome, QuestionAsked } from '#contracts';

/** What was asked; it never changes. Instants are RFC 3339 in UTC with milliseconds. */
export interface Question extends QuestionAsked {
  readonly id: string;
  readonly tenant: string;
  readonly askedAt: string;
}

export interface Unasked {
  readonly state: 'unasked';
  readonly version: 0;
  readonly id: string;
  readonly tenant: string;
}

export interface Pending {
  readonly state: 'pending';
  readonly version: number;
  readonly question: Question;
}

/** Terminal: nothing leaves it. */
export interface Settled<Kind extends Outcome['kind'] = Outcome['kind']> {
  readonly state: Kind;
  readonly version: number;
  readonly question: Question;
  readonly outcome: Extract<Outcome, { kind: Kind }>;
}

export type Asked = Pending | Settled<'answered'> | Settled<'expired'> | Settled<'cancelled'>;
export type QuestionState = Unasked | Asked;

export function unasked(tenant: string, id: string): Unasked {
  return { state: 'unasked', version: 0, id, tenant };
}
