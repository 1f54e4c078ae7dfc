import type { Decision } from '#domain';
import { invalid, notFound, Problem } from '#platform';

export type Refusal = Exclude<Decision, { kind: 'accepted' | 'settled' | 'overdue' }>;

type Problems = {
  readonly [Kind in Refusal['kind']]: (refusal: Extract<Refusal, { kind: Kind }>) => Problem;
};

const problems: Problems = {
  unknown_question: () => notFound('question'),
  not_eligible: () => forbidden('not_eligible', 'you may see this question but not settle it'),
  invalid_choice: ({ errors }) => invalid(errors),
  already_asked: () => conflict('a question with this id was asked already'),
  not_due: () => conflict('the deadline of this question has not passed'),
};

/** What a refusal of the decider is to a client. */
export function refusalOf<Kind extends Refusal['kind']>(refusal: Extract<Refusal, { kind: Kind }>): Problem {
  return problems[refusal.kind as Kind](refusal);
}

function forbidden(code: string, detail: string): Problem {
  return new Problem({ status: 403, code, detail });
}

function conflict(detail: string): Problem {
  return new Problem({ status: 409, code: 'conflict', detail });
}
