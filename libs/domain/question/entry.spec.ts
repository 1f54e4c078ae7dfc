import { describe, expect, it } from '@jest/globals';
import type { QuestionEvent } from '#contracts';
import {
  type Asked,
  type Decision,
  entryOf,
  envelopeOf,
  expiryOf,
  after as followedBy,
  type QuestionCommand,
} from '#domain';
import {
  ADA,
  ASKER,
  answer,
  answered,
  ask,
  asked,
  cancel,
  DEADLINE,
  expire,
  expired,
  given,
  LAST_INSTANT,
  QUESTION_ID,
  stateAfter,
  TENANT,
} from '../../../test/support/question-spec.js';

type Accepted = Extract<Decision, { kind: 'accepted' }>;

function entryFor(history: readonly QuestionEvent[], command: QuestionCommand) {
  return entryOf(stateAfter(...history), given(...history).when(command).decision as Accepted);
}

describe('what the log is asked to write', () => {
  it('is the first event of the stream of a question that is asked', () => {
    const entry = entryFor([], ask({ expiresAt: DEADLINE, defaultOption: 'no', conversation: 'c-1' }));

    expect(entry).toMatchObject({
      tenant: TENANT,
      stream: `question:${QUESTION_ID}`,
      version: 1,
      type: 'question.asked',
    });
    expect(entry.view).toMatchObject({
      id: QUESTION_ID,
      state: 'pending',
      asker: ASKER,
      addressee: `direct:${ADA}`,
      conversation: 'c-1',
      expiresAt: DEADLINE,
      defaultOption: 'no',
    });
  });

  it('leaves the deadline to the log when it is counted from the commit', () => {
    const { data, guard, view } = entryFor([], ask({ expiresIn: 2 }));

    expect(guard).toStrictEqual({ lifetimeMs: 2_000 });
    expect(view.expiresAt).toBeNull();
    expect(data).toContain('"expiresAt":"\\ud801"');
    expect(view.envelope).toContain('"askedAt":"\\ud800"');
    expect(view.envelope).toContain('"expiresAt":"\\ud801"');
  });

  it.each([
    ['answered', answer({ option: 'yes' }), ADA],
    ['cancelled', cancel(), ASKER],
    ['expired', expire(), 'system:expiry'],
  ])('is the second event, with the view after it, of a question that is %s', (state, command, actor) => {
    const entry = entryFor([asked()], command);

    expect(entry).toMatchObject({
      version: 2,
      type: `question.${state}`,
      actor,
      view: { state, expiresAt: DEADLINE },
    });
    expect(JSON.parse(entry.view.envelope)).toMatchObject({ version: 2, state, outcome: { kind: state } });
  });

  it('addresses a room by its name', () => {
    expect(entryFor([], ask({ scope: { kind: 'room', room: 'ops' } })).view.addressee).toBe('room:ops');
  });
});

describe('what expires a question that the view shows', () => {
  const state = stateAfter(asked({ defaultOption: 'no' })) as Asked;
  const view = { envelope: JSON.stringify(envelopeOf(state)), defaultOption: 'no' };

  it('is the entry that its history would give', () => {
    expect(expiryOf(view, DEADLINE)).toStrictEqual(entryFor([asked({ defaultOption: 'no' })], expire()));
  });

  it('is nothing before its deadline', () => {
    expect(expiryOf(view, LAST_INSTANT)).toBeUndefined();
  });

  it('is nothing once it is settled', () => {
    const settled = envelopeOf(stateAfter(asked(), answered()) as Asked);

    expect(expiryOf({ envelope: JSON.stringify(settled), defaultOption: null }, DEADLINE)).toBeUndefined();
  });
});

describe('the state after an event', () => {
  it('is never that of a question which does not exist', () => {
    expect(() => followedBy(stateAfter(), answered())).toThrow(
      'question.answered cannot be the first event of a question',
    );
  });

  it('is the state itself when the event cannot follow', () => {
    const state = stateAfter(asked(), expired());

    expect(followedBy(state, answered())).toBe(state);
  });
});
