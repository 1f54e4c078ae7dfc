import { describe, expect, it } from '@jest/globals';
import { COMMITTED_AT } from '#domain';
import {
  ADA,
  ASKER,
  answer,
  answered,
  asked,
  DEADLINE,
  given,
  IN_TIME,
  JOINED_AT,
  NO,
  STRANGER,
  YES,
} from '../../../test/support/question-spec.js';

const toRoom = { scope: { kind: 'room', room: 'ops' } } as const;

describe('answering a direct question', () => {
  it('records who chose what and why they were allowed to, if the log commits it before the deadline', () => {
    given(asked())
      .when(answer({ option: 'yes' }))
      .thenDecides({
        kind: 'accepted',
        event: {
          type: 'question.answered',
          at: COMMITTED_AT,
          data: { by: ADA, answer: { kind: 'option', option: YES }, eligibility: { kind: 'direct' } },
        },
        actor: ADA,
        guard: { notAfter: DEADLINE },
      });
  });

  it.each([
    ['the asker', ASKER],
    ['a stranger', STRANGER],
    ['somebody whose name only starts alike', `${ADA}2`],
  ])('is not for %s', (_who, by) => {
    given(asked())
      .when(answer({ option: 'yes' }, { by, memberSince: JOINED_AT }))
      .thenDecides({ kind: 'not_eligible' });
  });

  it('is for an asker who asked themselves', () => {
    given(asked({ scope: { kind: 'direct', user: ASKER } }))
      .when(answer({ option: 'no' }, { by: ASKER }))
      .thenRecords('question.answered', { by: ASKER, answer: { kind: 'option', option: NO } });
  });
});

describe('answering a question to a room', () => {
  it('is for its members, and the log keeps since when they are', () => {
    const eligibility = { kind: 'room', room: 'ops', since: JOINED_AT };

    given(asked(toRoom))
      .when(answer({ option: 'yes' }, { by: 'user:bo', memberSince: JOINED_AT }))
      .thenRecords('question.answered', { by: 'user:bo', eligibility });
  });

  it('is for a member who joined after it was asked', () => {
    const { decision } = given(asked(toRoom)).when(
      answer({ option: 'yes' }, { by: 'user:bo', memberSince: IN_TIME }),
    );

    expect(decision.kind).toBe('accepted');
  });

  it.each([ASKER, ADA, STRANGER])('is not for %s while they are not a member', (by) => {
    given(asked(toRoom))
      .when(answer({ option: 'yes' }, { by }))
      .thenDecides({ kind: 'not_eligible' });
  });

  it('finds it settled when another member was first', () => {
    given(asked(toRoom), answered())
      .when(answer({ option: 'no' }, { by: 'user:bo', memberSince: JOINED_AT }))
      .thenDecides({ kind: 'settled' });
  });
});

describe('a choice', () => {
  it('has the label of the question, and no description', () => {
    const option = { ...YES, label: 'Yes, now', description: 'Roll it out' };

    given(asked({ options: [option, NO] }))
      .when(answer({ option: 'yes' }))
      .thenRecords('question.answered', {
        answer: { kind: 'option', option: { id: 'yes', label: 'Yes, now' } },
      });
  });

  it('is a typed text verbatim where the question takes one', () => {
    const text = '  ça va "\\ud800"\n👩‍👩‍👧 ';

    given(asked({ allowText: true }))
      .when(answer({ text }))
      .thenRecords('question.answered', { answer: { kind: 'text', text } });
  });

  it('is a skip where the question can be skipped', () => {
    given(asked({ allowSkip: true }))
      .when(answer({ skip: true }))
      .thenRecords('question.answered', { answer: { kind: 'skipped' } });
  });

  const refused = (path: string, message: string) => ({
    kind: 'invalid_choice' as const,
    errors: [{ path, message }],
  });

  it.each(['maybe', 'YES', 'Yes', '', 'toString'])(
    'is not "%s", which is no option of the question',
    (option) => {
      given(asked()).when(answer({ option })).thenDecides(refused('option', 'must be one of: yes, no'));
    },
  );

  it('is no option of a question that has none', () => {
    given(asked({ options: [], allowText: true }))
      .when(answer({ option: 'yes' }))
      .thenDecides(refused('option', 'this question has no options'));
  });

  it('is no typed text unless the question takes one, though it be the label of an option', () => {
    given(asked({ allowSkip: true }))
      .when(answer({ text: 'Yes' }))
      .thenDecides(refused('text', 'this question takes no typed answer: choose an option'));
  });

  it('is no skip unless the question can be skipped', () => {
    given(asked({ allowText: true }))
      .when(answer({ skip: true }))
      .thenDecides(refused('skip', 'this question cannot be skipped'));
  });

  it('that is not well formed is refused with the faults that were found', () => {
    const errors = [{ path: 'text', message: 'must be 1 to 4000 characters' }];

    given(asked())
      .when({ kind: 'AnswerQuestion', by: ADA, memberSince: null, choice: { errors }, now: IN_TIME })
      .thenDecides({ kind: 'invalid_choice', errors });
  });

  it('that is not well formed is not even looked at once the question is settled', () => {
    const errors = [{ path: 'text', message: 'must be 1 to 4000 characters' }];

    given(asked(), answered())
      .when({ kind: 'AnswerQuestion', by: ADA, memberSince: null, choice: { errors }, now: IN_TIME })
      .thenDecides({ kind: 'settled' });
  });
});
