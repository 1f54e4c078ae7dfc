import { describe, expect, it } from '@jest/globals';
import { COMMITTED_AT, DEADLINE_AT } from '#domain';
import { ADA, ASKER, ask, DEADLINE, given, NO, YES } from '../../../test/support/question-spec.js';

const DAY_MS = 24 * 60 * 60 * 1_000;

describe('asking a question', () => {
  it('records everything that the asker gave, and fills what it left out', () => {
    given()
      .when(ask())
      .thenDecides({
        kind: 'accepted',
        event: {
          type: 'question.asked',
          at: COMMITTED_AT,
          data: {
            asker: ASKER,
            scope: { kind: 'direct', user: ADA },
            prompt: 'Deploy build 1234?',
            context: null,
            options: [YES, NO],
            allowText: false,
            allowSkip: false,
            defaultOption: null,
            conversation: null,
            turn: null,
            metadata: {},
            expiresAt: DEADLINE_AT,
          },
        },
        actor: ASKER,
        guard: { lifetimeMs: DAY_MS },
      });
  });

  it('keeps context, choices, default, metadata, conversation and turn as they were given', () => {
    const body = {
      context: '**Build 1234**',
      options: [{ ...YES, description: 'Roll it out' }, NO],
      allowText: true,
      allowSkip: true,
      defaultOption: 'no',
      scope: { kind: 'room', room: 'ops' },
      metadata: { build: 1234 },
      conversation: 'c-1',
      turn: 't-1',
    };

    given().when(ask(body)).thenRecords('question.asked', body);
  });

  it('leaves a description out where there is none', () => {
    const { decision } = given().when(ask({ options: [{ ...YES, description: undefined }] }));

    expect(decision).toHaveProperty('event.data.options', [YES]);
    expect(decision).not.toHaveProperty('event.data.options.0.description');
  });

  it.each([
    [1, 1_000],
    [1.5, 1_500],
    [7_776_000, 7_776_000_000],
  ])('counts a lifetime of %d s from the commit', (expiresIn, lifetimeMs) => {
    const { decision } = given().when(ask({ expiresIn }));

    expect(decision).toMatchObject({ event: { data: { expiresAt: DEADLINE_AT } } });
    expect(decision).toHaveProperty('guard', { lifetimeMs });
  });

  it('must be committed before a deadline that was given as an instant', () => {
    const { decision } = given().when(ask({ expiresAt: '2026-11-30T20:00:00+02:00' }));

    expect(decision).toMatchObject({ event: { data: { expiresAt: DEADLINE } } });
    expect(decision).toHaveProperty('guard', { notAfter: DEADLINE });
  });
});
