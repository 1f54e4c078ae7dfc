import { describe, expect, it } from '@jest/globals';
import type { QuestionEvent } from '#contracts';
import { envelopeOf, evolve, stateOf, unasked } from '#domain';
import {
  ADA,
  ASKED_AT,
  ASKER,
  answered,
  asked,
  cancelled,
  DEADLINE,
  expired,
  IN_TIME,
  NO,
  QUESTION_ID,
  stateAfter,
  TENANT,
  YES,
} from '../../../test/support/question-spec.js';

const EVENTS = {
  'question.asked': asked({ prompt: 'Another?' }),
  'question.answered': answered(NO),
  'question.expired': expired(NO),
  'question.cancelled': cancelled('too late'),
};

const TERMINAL = [
  ['answered', answered()],
  ['expired', expired()],
  ['cancelled', cancelled()],
] as const;

describe('the history of a question', () => {
  it('starts with nothing', () => {
    expect(stateAfter()).toStrictEqual({ state: 'unasked', version: 0, tenant: TENANT, id: QUESTION_ID });
  });

  it('makes it pending when it is asked', () => {
    const question = { id: QUESTION_ID, tenant: TENANT, askedAt: ASKED_AT, ...asked().data };

    expect(stateAfter(asked())).toStrictEqual({ state: 'pending', version: 1, question });
  });

  it('keeps who chose what when it is answered', () => {
    const answer = { kind: 'option', option: YES };
    const outcome = { kind: 'answered', at: IN_TIME, by: ADA, answer, words: 'user:ada answered: Yes' };

    expect(stateAfter(asked(), answered())).toMatchObject({ state: 'answered', version: 2, outcome });
  });

  it('keeps that nobody answered when it expired, and nothing that looks like a choice', () => {
    const { outcome } = envelopeAfter(asked({ defaultOption: 'no' }), expired(NO));

    const words = "Nobody answered before the deadline; the asker's default is: No";
    expect(outcome).toStrictEqual({ kind: 'expired', at: DEADLINE, default: NO, words });
  });

  it('keeps who withdrew it and why', () => {
    const { outcome } = envelopeAfter(asked(), cancelled('build 1235 is out'));

    const words = 'agent:deployer withdrew the question: build 1235 is out';
    expect(outcome).toStrictEqual({
      kind: 'cancelled',
      at: IN_TIME,
      by: ASKER,
      reason: 'build 1235 is out',
      words,
    });
  });

  it.each(Object.entries(EVENTS).filter(([type]) => type !== 'question.asked'))(
    'is not started by %s',
    (_type, event) => {
      expect(stateAfter(event)).toStrictEqual(unasked(TENANT, QUESTION_ID));
    },
  );

  it('does not change what was asked when it is asked again', () => {
    expect(stateAfter(asked(), EVENTS['question.asked'])).toStrictEqual(stateAfter(asked()));
  });

  it.each(
    TERMINAL.flatMap(([state, end]) =>
      Object.entries(EVENTS).map(([type, event]) => [state, type, end, event]),
    ),
  )('leaves it %s whatever follows: %s', (_state, _type, end, event) => {
    const settled = stateAfter(asked(), end as QuestionEvent);

    expect(evolve(settled, event as QuestionEvent)).toBe(settled);
  });
});

describe('the words of an outcome', () => {
  const answeredWith = (answer: Extract<QuestionEvent, { type: 'question.answered' }>['data']['answer']) =>
    ({
      type: 'question.answered',
      at: IN_TIME,
      data: { by: ADA, answer, eligibility: { kind: 'direct' } },
    }) as const;

  it.each([
    ['a choice', answered(NO), 'user:ada answered: No'],
    [
      'a typed answer, on one line',
      answeredWith({ kind: 'text', text: ' Not\tyet ' }),
      'user:ada answered: Not yet',
    ],
    ['a skip', answeredWith({ kind: 'skipped' }), 'user:ada skipped the question'],
    ['silence', expired(), 'Nobody answered before the deadline'],
    ['a withdrawal', cancelled(), 'agent:deployer withdrew the question'],
  ])('tell %s', (_what, event, words) => {
    expect(envelopeAfter(asked(), event).outcome?.words).toBe(words);
  });
});

describe('the envelope', () => {
  it('shows a pending question with every key', () => {
    const { defaultOption: _kept, ...data } = asked().data as Extract<
      QuestionEvent,
      { type: 'question.asked' }
    >['data'];
    const identity = { object: 'question', id: QUESTION_ID, tenant: TENANT, version: 1, state: 'pending' };

    expect(envelopeAfter(asked())).toStrictEqual({ ...identity, ...data, askedAt: ASKED_AT, outcome: null });
  });

  it.each([['pending', undefined], ...TERMINAL])(
    'of a question that is %s turns back into its state',
    (_state, end) => {
      const history =
        end === undefined ? [asked({ defaultOption: 'no' })] : [asked({ defaultOption: 'no' }), end];

      expect(stateOf(envelopeAfter(...history), 'no')).toStrictEqual(stateAfter(...history));
    },
  );
});

function envelopeAfter(...history: readonly QuestionEvent[]) {
  const state = stateAfter(...history);
  if (state.state === 'unasked') throw new Error('there is no envelope before the question was asked');
  return envelopeOf(state);
}
