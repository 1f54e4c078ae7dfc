import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Envelope, QuestionEvent } from '#contracts';
import { type Asked, decide, entryOf, envelopeOf, type QuestionCommand, stateOf } from '#domain';
import {
  commands,
  events,
  START_MS,
  type UntimedCommand,
} from '../../../test/support/question-arbitraries.js';
import { asked, expired, stateAfter } from '../../../test/support/question-spec.js';
import { SimulatedLog, type Verdict } from '../../../test/support/simulated-log.js';

interface Step {
  readonly worker: number;
  readonly command: UntimedCommand;
  /** Whether the worker reads the question anew, or goes on with what it has seen before. */
  readonly reloads: boolean;
  /** How far the machine's clock moves first; it may be set back. */
  readonly tickMs: number;
}

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({
    worker: fc.nat({ max: 2 }),
    command: commands,
    reloads: fc.boolean(),
    tickMs: fc.constantFrom(-700, -1, 0, 0, 1, 250, 499, 500, 1_000),
  }),
  { minLength: 1, maxLength: 24, size: 'max' },
);

interface Attempt {
  readonly command: QuestionCommand;
  readonly verdict: Verdict | 'refused';
}

/** Each worker decides on what it saw, with the clock of then, and appends when its turn comes. */
function run(plan: readonly Step[]): { log: SimulatedLog; attempts: readonly Attempt[] } {
  const log = new SimulatedLog(START_MS);
  const seen = new Map<number, { version: number; now: string }>();
  const attempts = plan.map(({ worker, command, reloads, tickMs }): Attempt => {
    if (reloads || !seen.has(worker)) seen.set(worker, { version: log.events.length, now: log.now });
    log.clockMs += tickMs;
    const { version, now } = seen.get(worker) ?? { version: 0, now: log.now };
    const state = log.stateAt(version);
    const decision = decide(command(now), state);
    const verdict = decision.kind === 'accepted' ? log.append(entryOf(state, decision)) : 'refused';
    return { command: command(now), verdict };
  });
  return { log, attempts };
}

function always(holds: (result: ReturnType<typeof run>) => void): void {
  fc.assert(
    fc.property(steps, (plan) => holds(run(plan))),
    { numRuns: 400 },
  );
}

/** That the properties hold is worth something only if things happen. */
const SAMPLE = fc.sample(steps, { numRuns: 1_000, seed: 1 }).map(run);

describe('whatever is commanded by whomever, in any order, at any time, on stale knowledge', () => {
  it('a question is asked once, first, and has at most one terminal event', () => {
    always(({ log }) => {
      expect(log.events.map(({ type }) => type === 'question.asked')).toStrictEqual(
        [true, false].slice(0, log.events.length),
      );
    });
  });

  it('answers and withdrawals are before the deadline, and expiries are not', () => {
    always(({ log }) => {
      const { expiresAt } = log.views[0] ?? {};
      for (const { type, at } of log.events) {
        expect({ type, inTime: at < String(expiresAt) }).toStrictEqual({
          type,
          inTime: type !== 'question.expired',
        });
      }
    });
  });

  it('of all attempts to settle it exactly the one in the log was told that it did', () => {
    always(({ log, attempts }) => {
      expect(attempts.filter(({ verdict }) => verdict === 'appended')).toHaveLength(log.events.length);
    });
  });

  it('an answer has the label of the question or the very words of the responder', () => {
    always(({ log, attempts }) => {
      const winner = attempts.findLast(({ verdict }) => verdict === 'appended')?.command;
      const [view] = log.views.slice(1);
      if (winner?.kind !== 'AnswerQuestion' || view?.outcome?.kind !== 'answered') return;
      expect(view.outcome.by).toBe(winner.by);
      expect(view.outcome.answer).toStrictEqual(expectedAnswer(winner, view));
    });
  });

  it('the answer is of somebody in scope', () => {
    always(({ log, attempts }) => {
      const winner = attempts.findLast(({ verdict }) => verdict === 'appended')?.command;
      const [, event] = log.events;
      if (winner?.kind !== 'AnswerQuestion' || event?.type !== 'question.answered') return;
      const scope = log.views[0]?.scope;
      if (scope?.kind === 'direct') expect(event.data.by).toBe(scope.user);
      else expect(event.data.eligibility).toStrictEqual({ ...scope, since: winner.memberSince });
    });
  });

  it('an expiry is never a choice', () => {
    always(({ log }) => {
      if (log.events.at(-1)?.type !== 'question.expired') return;
      const { state, outcome } = log.views.at(-1) as Envelope;
      expect(state).toBe('expired');
      expect(Object.keys(outcome ?? {}).sort()).toStrictEqual(['at', 'default', 'kind', 'words']);
    });
  });

  it('the view that is written with an event is the fold of the history up to it', () => {
    always(({ log }) => {
      for (const [index, view] of log.views.entries()) {
        expect(view).toStrictEqual(envelopeOf(log.stateAt(index + 1) as Asked));
      }
    });
  });

  it('an envelope and the default option make the state again', () => {
    always(({ log }) => {
      for (const [index, view] of log.views.entries()) {
        const state = log.stateAt(index + 1) as Asked;
        expect(stateOf(view, state.question.defaultOption)).toStrictEqual(state);
      }
    });
  });

  it.each(['unasked', 'pending', 'answered', 'expired', 'cancelled'])('some question ends up %s', (state) => {
    expect(SAMPLE.filter(({ log }) => log.state.state === state).length).toBeGreaterThan(10);
  });

  it.each(['conflict', 'too_early', 'too_late'])('some attempt is refused by the log: %s', (refusal) => {
    expect(
      SAMPLE.flatMap(({ attempts }) => attempts).filter(({ verdict }) => verdict === refusal),
    ).not.toHaveLength(0);
  });
});

function expectedAnswer({ choice }: Extract<QuestionCommand, { kind: 'AnswerQuestion' }>, view: Envelope) {
  if ('errors' in choice) throw new Error('a choice that is not well formed was taken');
  const { option, text } = choice.body;
  if (option !== undefined) return { kind: 'option', option: view.options.find(({ id }) => id === option) };
  return text === undefined ? { kind: 'skipped' } : { kind: 'text', text };
}

describe('whatever history evolve is given', () => {
  it('it does not throw, and of several terminal events the first stands', () => {
    fc.assert(
      fc.property(fc.array(events), fc.array(events), (early, late) => {
        const [first] = [...early, expired()].filter(({ type }) => type !== 'question.asked');
        const settled = stateAfter(asked(), first as QuestionEvent);

        expect(stateAfter(asked(), ...early, expired(), ...late)).toStrictEqual(settled);
      }),
    );
  });

  it('nothing happens to a question before it is asked', () => {
    fc.assert(
      fc.property(fc.array(events.filter(({ type }) => type !== 'question.asked')), (history) => {
        expect(stateAfter(...history)).toStrictEqual(stateAfter());
      }),
    );
  });
});
