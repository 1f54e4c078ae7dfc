import type { AnswerBody, AskBody, FieldError } from '#contracts';

/** When a deadline is: a span after the commit of the question, or an instant. */
export type Lifetime = { readonly milliseconds: number } | { readonly until: string };

export interface AskQuestion {
  readonly kind: 'AskQuestion';
  readonly asker: string;
  readonly body: AskBody;
}

/** A choice as it was submitted; one that is not even well formed is judged last, like any invalid choice. */
export type SubmittedChoice = { readonly body: AnswerBody } | { readonly errors: readonly FieldError[] };

export interface AnswerQuestion {
  readonly kind: 'AnswerQuestion';
  readonly by: string;
  /** When the responder joined the room of the question; null for who is not in it. */
  readonly memberSince: string | null;
  readonly choice: SubmittedChoice;
  readonly now: string;
}

export interface CancelQuestion {
  readonly kind: 'CancelQuestion';
  readonly by: string;
  readonly asAdmin: boolean;
  readonly reason: string | null;
  /** What is wrong with the request; it is judged last. */
  readonly errors?: readonly FieldError[];
  readonly now: string;
}

export interface ExpireQuestion {
  readonly kind: 'ExpireQuestion';
  readonly now: string;
}

export type QuestionCommand = AskQuestion | AnswerQuestion | CancelQuestion | ExpireQuestion;
