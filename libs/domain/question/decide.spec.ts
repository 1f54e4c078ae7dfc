import { describe, expect, it } from '@jest/globals';
import type { QuestionEvent } from '#contracts';
import type { QuestionCommand } from '#domain';
import {
  ADA,
  AFTERWARDS,
  answer,
  answered,
  ask,
  asked,
  cancel,
  cancelled,
  DEADLINE,
  expire,
  expired,
  given,
  IN_TIME,
  LAST_INSTANT,
  STRANGER,
} from '../../../test/support/question-spec.js';

interface Situation {
  readonly history: readonly QuestionEvent[];
  readonly now: string;
}

const SITUATIONS: Readonly<Record<string, Situation>> = {
  'never asked': { history: [], now: IN_TIME },
  pending: { history: [asked()], now: IN_TIME },
  'last instant': { history: [asked()], now: LAST_INSTANT },
  'at deadline': { history: [asked()], now: DEADLINE },
  'past deadline': { history: [asked()], now: AFTERWARDS },
  answered: { history: [asked(), answered()], now: IN_TIME },
  expired: { history: [asked(), expired()], now: AFTERWARDS },
  cancelled: { history: [asked(), cancelled()], now: IN_TIME },
};

const COMMANDS: Readonly<Record<string, (now: string) => QuestionCommand>> = {
  'the asker asks it': () => ask(),
  'its target answers': (now) => answer({ option: 'yes' }, { now }),
  'its target answers amiss': (now) => answer({ option: 'maybe' }, { now }),
  'a stranger answers': (now) => answer({ option: 'yes' }, { by: STRANGER, now }),
  'a stranger answers amiss': (now) => answer({ option: 'maybe' }, { by: STRANGER, now }),
  'its asker withdraws it': (now) => cancel({ now }),
  'an admin withdraws it': (now) => cancel({ by: 'user:root', asAdmin: true, now }),
  'its target withdraws it': (now) => cancel({ by: ADA, now }),
  'the sweep expires it': (now) => expire(now),
};

const VERDICTS = `
 | never asked | pending | last instant | at deadline | past deadline | answered | expired | cancelled
the asker asks it        | accepted         | already_asked  | already_asked  | already_asked | already_asked | already_asked | already_asked | already_asked
its target answers       | unknown_question | accepted       | accepted       | overdue       | overdue       | settled       | settled       | settled
its target answers amiss | unknown_question | invalid_choice | invalid_choice | overdue       | overdue       | settled       | settled       | settled
a stranger answers       | unknown_question | not_eligible   | not_eligible   | not_eligible  | not_eligible  | not_eligible  | not_eligible  | not_eligible
a stranger answers amiss | unknown_question | not_eligible   | not_eligible   | not_eligible  | not_eligible  | not_eligible  | not_eligible  | not_eligible
its asker withdraws it   | unknown_question | accepted       | accepted       | overdue       | overdue       | settled       | settled       | settled
an admin withdraws it    | unknown_question | accepted       | accepted       | overdue       | overdue       | settled       | settled       | settled
its target withdraws it  | unknown_question | not_eligible   | not_eligible   | not_eligible  | not_eligible  | not_eligible  | not_eligible  | not_eligible
the sweep expires it     | unknown_question | not_due        | not_due        | accepted      | accepted      | settled       | settled       | settled
`;

function cells(): readonly (readonly [situation: string, command: string, verdict: string])[] {
  const [header = [], ...rows] = VERDICTS.trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()));
  const situations = header.filter((cell) => cell !== '');
  return rows.flatMap(([command = '', ...verdicts]) =>
    situations.map((situation, index) => [situation, command, verdicts[index] ?? ''] as const),
  );
}

describe('the verdict on every command in every situation', () => {
  it.each(cells())('of a question %s, when %s: %s', (situation, command, verdict) => {
    const { history, now } = SITUATIONS[situation] as Situation;
    const commandAt = COMMANDS[command] as (now: string) => QuestionCommand;

    const { decision } = given(...history).when(commandAt(now));

    expect(decision.kind).toBe(verdict);
  });

  it('has a cell for each of them', () => {
    expect(cells()).toHaveLength(Object.keys(SITUATIONS).length * Object.keys(COMMANDS).length);
  });
});
