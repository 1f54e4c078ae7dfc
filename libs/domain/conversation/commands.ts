/** By the owner of a conversation, or by who becomes it; at an instant of the database's clock. */
interface ByOwner {
  readonly by: string;
  readonly now: string;
}

/** What begins a continuation when one is due brings an id for it. */
interface MayContinue {
  readonly newContinuation: string;
}

/** A question was asked in the conversation. */
export interface NoteQuestion extends ByOwner {
  readonly kind: 'NoteQuestion';
  readonly question: string;
  readonly turn: string | null;
}

/** A question of the conversation was settled, by whomever. */
export interface NoteOutcome extends MayContinue {
  readonly kind: 'NoteOutcome';
  readonly question: string;
  readonly version: number;
  readonly outcome: 'answered' | 'expired' | 'cancelled';
  readonly by: string;
  readonly now: string;
}

/** A person's message is being admitted: what continues holds back. */
export interface BeginSend extends ByOwner {
  readonly kind: 'BeginSend';
  readonly send: string;
}

/** It was not admitted after all. */
export interface WithdrawSend extends ByOwner, MayContinue {
  readonly kind: 'WithdrawSend';
  readonly send: string;
}

/** The agent begins to work: for a send that is admitted thereby, for a continuation, or for something else. */
export interface StartTurn extends ByOwner {
  readonly kind: 'StartTurn';
  readonly turn: string;
  readonly send: string | null;
  readonly continuation: string | null;
  readonly leaseSeconds: number;
}

/** The agent looks for what is new. */
export interface ReachBoundary extends ByOwner {
  readonly kind: 'ReachBoundary';
  readonly turn: string;
}

/** The agent has nothing more to do in the turn. */
export interface FinishTurn extends ByOwner, MayContinue {
  readonly kind: 'FinishTurn';
  readonly turn: string;
}

/** Nobody wants any more what the conversation was about. */
export interface StopConversation extends ByOwner {
  readonly kind: 'StopConversation';
  readonly reason: 'stopped' | 'deleted';
}

/** The time of a turn or of a send is over. */
export interface LapseConversation extends MayContinue {
  readonly kind: 'LapseConversation';
  readonly now: string;
}

export type ConversationCommand =
  | NoteQuestion
  | NoteOutcome
  | BeginSend
  | WithdrawSend
  | StartTurn
  | ReachBoundary
  | FinishTurn
  | StopConversation
  | LapseConversation;
