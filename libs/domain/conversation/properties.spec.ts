import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { ConversationEvent, Owed } from '#contracts';
import { SimulatedConversation } from '../../../test/support/simulated-conversation.js';

const RUNS = 500;

type Action = (chat: SimulatedConversation) => unknown;

const questions = fc.constantFrom('q1', 'q2', 'q3', 'q4', 'q5', 'q6');
const turns = fc.constantFrom('t1', 't2', 't3');
const sends = fc.constantFrom('s1', 's2');

/** One thing that somebody does or that time does, whether it makes sense or not. */
const actions: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.tuple(questions, fc.option(turns)).map(([question, turn]) => asks(question, turn)),
  },
  {
    weight: 5,
    arbitrary: fc
      .tuple(questions, fc.constantFrom('answered' as const, 'expired' as const, 'cancelled' as const))
      .map(([question, outcome]) => settles(question, outcome)),
  },
  {
    weight: 2,
    arbitrary: sends.map(
      (send): Action =>
        (chat) =>
          chat.do({ kind: 'BeginSend', send }),
    ),
  },
  {
    weight: 2,
    arbitrary: sends.map(
      (send): Action =>
        (chat) =>
          chat.do({ kind: 'WithdrawSend', send }),
    ),
  },
  {
    weight: 5,
    arbitrary: fc
      .tuple(turns, fc.option(sends), fc.boolean(), fc.constantFrom(10, 900))
      .map(([turn, send, takes, leaseSeconds]) => starts(turn, send, takes, leaseSeconds)),
  },
  {
    weight: 3,
    arbitrary: turns.map(
      (turn): Action =>
        (chat) =>
          chat.do({ kind: 'ReachBoundary', turn }),
    ),
  },
  {
    weight: 4,
    arbitrary: turns.map(
      (turn): Action =>
        (chat) =>
          chat.do({ kind: 'FinishTurn', turn }),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('stopped' as const, 'deleted' as const).map(
      (reason): Action =>
        (chat) =>
          chat.do({ kind: 'StopConversation', reason }),
    ),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom(1, 9, 61, 901).map(
      (s): Action =>
        (chat) =>
          chat.pass(s),
    ),
  },
  { weight: 1, arbitrary: fc.constant<Action>((chat) => chat.do({ kind: 'LapseConversation' })) },
);

function asks(question: string, turn: string | null): Action {
  // As real ones do, a question has its id for ever.
  return (chat) => {
    if (!chat.events.some((event) => asked(event) === question))
      chat.do({ kind: 'NoteQuestion', question, turn });
  };
}

function settles(question: string, outcome: 'answered' | 'expired' | 'cancelled'): Action {
  return (chat) => chat.do({ kind: 'NoteOutcome', question, version: 2, outcome, by: 'user:ada' });
}

function starts(turn: string, send: string | null, takes: boolean, leaseSeconds: number): Action {
  return (chat) => {
    const continuation = takes ? chat.state.continuation : null;
    return chat.do({ kind: 'StartTurn', turn, send, continuation, leaseSeconds });
  };
}

const asked = (event: ConversationEvent) =>
  event.type === 'conversation.question_asked' ? event.data.question : undefined;

function handedBy(event: ConversationEvent): readonly Owed[] {
  return event.type === 'conversation.turn_started' || event.type === 'conversation.boundary_reached'
    ? event.data.answers
    : [];
}

const idsOf = (owed: readonly Owed[]) => owed.map(({ question }) => question);

function holds(law: (chat: SimulatedConversation) => void): void {
  fc.assert(
    fc.property(fc.array(actions, { maxLength: 60 }), (sequence) => {
      const chat = new SimulatedConversation();
      for (const act of sequence) {
        act(chat);
        law(chat);
      }
    }),
    { numRuns: RUNS },
  );
}

test('every outcome that is owed is handed over once, or dropped by a stop, or still queued', () => {
  holds(({ events, state }) => {
    const queued = events.flatMap(({ type, data }) =>
      type === 'conversation.question_settled' && data.as === 'queued' ? [data.question] : [],
    );
    const handed = events.flatMap((event) => idsOf(handedBy(event)));
    const dropped = events.flatMap(({ type, data }) =>
      type === 'conversation.stopped' ? idsOf(data.dropped) : [],
    );
    expect([...handed, ...dropped, ...idsOf(state.queue)].toSorted()).toEqual(queued.toSorted());
  });
});

test('what is settled while its own turn runs is that turn`s, and never queued', () => {
  holds(({ events }) => {
    let turn: string | null = null;
    const own = new Map<string, string | null>();
    for (const { type, data } of events) {
      if (type === 'conversation.turn_started') turn = data.turn;
      if (type === 'conversation.question_asked') own.set(data.question, data.attached ? data.turn : null);
      if (type === 'conversation.question_settled' && data.as !== 'cancelled') {
        const attached = own.get(data.question) === turn && turn !== null;
        expect(data.as).toBe(attached ? 'attached' : 'queued');
      }
      if (type === 'conversation.turn_finished' || type === 'conversation.stopped') {
        turn = null;
        for (const question of own.keys()) own.set(question, null);
      }
    }
  });
});

test('a continuation is pending exactly when something is queued and nothing else comes first', () => {
  holds(({ state }) => {
    const due = state.turn === null && state.sends.length === 0 && state.queue.length > 0;
    expect(state.continuation !== null).toBe(due);
  });
});

test('each continuation begins once and ends once: it is taken or withdrawn', () => {
  holds(({ events, state }) => {
    const begun = events.flatMap(({ type, data }) =>
      type !== 'conversation.turn_started' && 'continuation' in data && data.continuation !== null
        ? [data.continuation]
        : [],
    );
    const ended = events.flatMap(({ type, data }) => [
      ...(type === 'conversation.turn_started' && data.continuation !== null ? [data.continuation] : []),
      ...('withdrawn' in data && data.withdrawn !== null ? [data.withdrawn] : []),
    ]);
    expect(new Set(begun).size).toBe(begun.length);
    expect([...ended, ...(state.continuation === null ? [] : [state.continuation])]).toEqual(begun);
  });
});

test('no turn is started for a continuation while a send is being admitted', () => {
  holds((chat) => {
    const { events } = chat;
    let admitting = 0;
    for (const { type, data } of events) {
      if (type === 'conversation.send_begun') admitting += 1;
      if (type === 'conversation.send_ended') admitting -= 1;
      if (type === 'conversation.stopped') admitting -= data.sends.length;
      if (type !== 'conversation.turn_started') continue;
      if (data.continuation !== null) expect(admitting).toBe(0);
      if (data.send !== null) admitting -= 1;
    }
    expect(chat.state.sends).toHaveLength(admitting);
  });
});

test('a turn runs alone, and for no longer than its lease after its last boundary', () => {
  holds(({ events }) => {
    let until: string | null = null;
    for (const { type, at, data } of events) {
      if (type === 'conversation.turn_started') expect(until).toBeNull();
      if (type === 'conversation.boundary_reached') expect(at < (until ?? '')).toBe(true);
      if (type === 'conversation.turn_started' || type === 'conversation.boundary_reached')
        until = data.until;
      if (type === 'conversation.turn_finished') {
        if (data.reason === 'lapsed') expect(at >= (until ?? '')).toBe(true);
        until = null;
      }
      if (type === 'conversation.stopped') until = null;
    }
  });
});
