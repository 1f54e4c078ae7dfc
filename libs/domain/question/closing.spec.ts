import { describe, expect, it } from '@jest/globals';
import { COMMITTED_AT, EXPIRY_ACTOR } from '#domain';
import {
  ADA,
  ASKER,
  asked,
  cancel,
  DEADLINE,
  expire,
  given,
  LAST_INSTANT,
  NO,
} from '../../../test/support/question-spec.js';

describe('withdrawing a question', () => {
  it('records who withdrew it and why, if the log commits it before the deadline', () => {
    given(asked())
      .when(cancel({ reason: 'build 1235 is out' }))
      .thenDecides({
        kind: 'accepted',
        event: {
          type: 'question.cancelled',
          at: COMMITTED_AT,
          data: { by: ASKER, reason: 'build 1235 is out' },
        },
        actor: ASKER,
        guard: { notAfter: DEADLINE },
      });
  });

  it('needs no reason', () => {
    given(asked()).when(cancel()).thenRecords('question.cancelled', { by: ASKER, reason: null });
  });

  it('names the admin who did it for the asker', () => {
    const { decision, thenRecords } = given(asked()).when(cancel({ by: 'user:root', asAdmin: true }));

    thenRecords('question.cancelled', { by: 'user:root', reason: null });
    expect(decision).toHaveProperty('actor', 'user:root');
  });

  it('is not for the one who was asked', () => {
    given(asked())
      .when(cancel({ by: ADA }))
      .thenDecides({ kind: 'not_eligible' });
  });
});

describe('expiring a question', () => {
  it('records that nobody answered, if the log commits it at the deadline or later', () => {
    given(asked())
      .when(expire())
      .thenDecides({
        kind: 'accepted',
        event: { type: 'question.expired', at: COMMITTED_AT, data: { default: null } },
        actor: EXPIRY_ACTOR,
        guard: { notBefore: DEADLINE },
      });
  });

  it('echoes the option that the asker acts on when nobody answers, without its description', () => {
    const options = [{ ...NO, description: 'Keep the old build' }];

    given(asked({ options, defaultOption: 'no' }))
      .when(expire())
      .thenRecords('question.expired', { default: NO });
  });

  it('waits for the deadline to the millisecond', () => {
    given(asked()).when(expire(LAST_INSTANT)).thenDecides({ kind: 'not_due' });
  });
});
