import { beforeEach, describe, expect, test } from '@jest/globals';
import { CONVERSATION_QUESTIONS_MAX, CONVERSATION_SENDS_MAX } from '#domain';
import { HOST, SimulatedConversation } from '../../../test/support/simulated-conversation.js';

const LEASE_SECONDS = 900;
const SEND_SECONDS = 60;

let chat: SimulatedConversation;
beforeEach(() => {
  chat = new SimulatedConversation();
});

// What happens, in a word each.
const ask = (question: string, turn: string | null = null) =>
  chat.do({ kind: 'NoteQuestion', question, turn });
const settle = (question: string, outcome: 'answered' | 'expired' | 'cancelled' = 'answered') =>
  chat.do({ kind: 'NoteOutcome', question, version: 2, outcome, by: 'user:ada' });
const send = (id: string) => chat.do({ kind: 'BeginSend', send: id });
const withdraw = (id: string) => chat.do({ kind: 'WithdrawSend', send: id });
const start = (turn: string, given: { send?: string; continuation?: string; by?: string } = {}) =>
  chat.do({ kind: 'StartTurn', turn, send: null, continuation: null, leaseSeconds: LEASE_SECONDS, ...given });
const boundary = (turn: string) => chat.do({ kind: 'ReachBoundary', turn });
const finish = (turn: string) => chat.do({ kind: 'FinishTurn', turn });
const stop = (reason: 'stopped' | 'deleted' = 'stopped') => chat.do({ kind: 'StopConversation', reason });
const lapse = () => chat.do({ kind: 'LapseConversation' });

function lapseAfter(seconds: number) {
  chat.pass(seconds);
  lapse();
}

// The columns of the table.
function idle() {
  start('t0');
  finish('t0');
}
/** With `q` detached and not settled. */
function waiting() {
  start('t0');
  ask('q', 't0');
  finish('t0');
}
/** With the outcome of `q` queued, and the continuation c1. */
function continuing() {
  waiting();
  settle('q');
}
function admitting() {
  idle();
  send('s');
}
/** Turn t runs. */
function busy() {
  idle();
  start('t');
}

const owed = (question: string) => ({ question, version: 2 });

describe('a conversation', () => {
  test('belongs to who mentions it first', () => {
    expect(start('t', { by: 'agent:first' })).toBe('accepted');
    expect(chat.state.owner).toBe('agent:first');
    expect(finish('t')).toBe('not_owner');
    expect(ask('q')).toBe('not_owner');
    expect(stop()).toBe('not_owner');
  });

  test.each([
    ['a question', () => ask('q')],
    ['a send', () => send('s')],
    ['a turn', () => start('t')],
  ])('begins with %s', (_what, mention) => {
    expect(mention()).toBe('accepted');
    expect(chat.state).toMatchObject({ owner: HOST, version: 1 });
  });

  test.each([
    ['a boundary', () => boundary('t')],
    ['the end of a turn', () => finish('t')],
    ['the end of a send', () => withdraw('s')],
  ])('does not begin with %s', (_what, call) => {
    expect(call()).toBe('unknown_conversation');
  });

  test('that nobody has mentioned has nothing to stop', () => {
    expect(stop()).toBe('nothing');
    expect(stop('deleted')).toBe('nothing');
  });

  test('has room for so many questions that are pending, queued or settled in the turn', () => {
    start('t');
    const all = Array.from({ length: CONVERSATION_QUESTIONS_MAX }, (_, index) => `q${index}`);
    for (const id of all) expect(ask(id, id === 'q0' ? 't' : null)).toBe('accepted');
    const isFull = () => expect(ask('one more')).toBe('conversation_full');
    isFull();
    settle('q0');
    settle('q1');
    isFull();
    settle('q2', 'cancelled');
    expect(ask('one more')).toBe('accepted');
    expect(ask('two more')).toBe('conversation_full');
    boundary('t');
    expect(ask('two more')).toBe('accepted');
    expect(ask('three more')).toBe('conversation_full');
    finish('t');
    expect(ask('three more')).toBe('accepted');
  });

  test('admits so many sends at a time', () => {
    for (let n = 0; n < CONVERSATION_SENDS_MAX; n += 1) expect(send(`s${n}`)).toBe('accepted');
    expect(send('one more')).toBe('conversation_full');
    withdraw('s0');
    expect(send('one more')).toBe('accepted');
  });

  test('is told of an outcome by whoever it is', () => {
    ask('q');
    expect(settle('q')).toBe('accepted');
    expect(chat.last).toMatchObject({ actor: 'user:ada' });
    expect(chat.state.owner).toBe(HOST);
  });
});

describe('a question', () => {
  test('is attached as long as the turn that asked it runs', () => {
    busy();
    ask('q', 't');
    expect(chat.state.questions).toEqual([{ id: 'q', attached: true }]);
    finish('t');
    expect(chat.last?.data).toMatchObject({ detached: ['q'], settled: [] });
    expect(chat.state.questions).toEqual([{ id: 'q', attached: false }]);
  });

  test.each<[string, () => void, string | null]>([
    ['under a turn that is over', idle, 't0'],
    ['under no turn', busy, null],
    ['under another turn than the one that runs', busy, 't0'],
    ['while a send is being admitted', admitting, 't'],
    ['while a continuation is pending', continuing, 't0'],
  ])('asked %s is detached from the start', (_when, given, turn) => {
    given();
    ask('late', turn);
    expect(chat.last?.data).toEqual({ question: 'late', turn, attached: false });
    expect(chat.state.questions.find(({ id }) => id === 'late')).toEqual({ id: 'late', attached: false });
  });

  test('is noted once', () => {
    ask('q');
    expect(ask('q')).toBe('nothing');
  });

  test('of an earlier turn stays detached when another turn finishes', () => {
    waiting();
    start('t');
    ask('own', 't');
    finish('t');
    expect(chat.last?.data).toMatchObject({ detached: ['own'] });
    expect(chat.state.questions.map(({ attached }) => attached)).toEqual([false, false]);
  });
});

describe('an outcome', () => {
  test.each(['answered', 'expired'] as const)('of an attached question (%s) is the turn`s own', (outcome) => {
    busy();
    ask('q', 't');
    settle('q', outcome);
    expect(chat.last?.data).toEqual({ question: 'q', version: 2, as: 'attached', continuation: null });
    expect(chat.state).toMatchObject({ queue: [], questions: [], continuation: null });
    finish('t');
    expect(chat.last?.data).toMatchObject({ detached: [], settled: ['q'], continuation: null });
  });

  test.each(['answered', 'expired'] as const)(
    'of a detached question (%s) begins a continuation',
    (outcome) => {
      waiting();
      settle('q', outcome);
      expect(chat.last?.data).toEqual({ question: 'q', version: 2, as: 'queued', continuation: 'c1' });
      expect(chat.state).toMatchObject({ queue: [owed('q')], questions: [], continuation: 'c1' });
    },
  );

  test('rides with the continuation that is pending', () => {
    continuing();
    ask('q2');
    settle('q2');
    expect(chat.last?.data).toMatchObject({ as: 'queued', continuation: null });
    expect(chat.state).toMatchObject({ queue: [owed('q'), owed('q2')], continuation: 'c1' });
  });

  test.each<[string, () => void]>([
    ['a send is being admitted', admitting],
    ['a turn runs', busy],
  ])('is queued without a continuation while %s', (_what, given) => {
    given();
    ask('q');
    settle('q');
    expect(chat.last?.data).toMatchObject({ as: 'queued', continuation: null });
    expect(chat.state).toMatchObject({ queue: [owed('q')], continuation: null });
  });

  test('that is a cancellation is owed to nobody, but a turn`s own are listed', () => {
    waiting();
    settle('q', 'cancelled');
    expect(chat.last?.data).toMatchObject({ as: 'cancelled', continuation: null });
    expect(chat.state).toMatchObject({ queue: [], questions: [], continuation: null });
    start('t');
    ask('own', 't');
    settle('own', 'cancelled');
    finish('t');
    expect(chat.last?.data).toMatchObject({ settled: ['own'], detached: [] });
  });

  test('of a detached question is none of the running turn`s own', () => {
    waiting();
    start('t');
    settle('q', 'cancelled');
    finish('t');
    expect(chat.last?.data).toMatchObject({ settled: [] });
  });

  test('comes once', () => {
    continuing();
    expect(settle('q')).toBe('nothing');
    expect(settle('never-asked')).toBe('nothing');
  });
});

describe('a send', () => {
  test('holds continuations back until it is admitted, and its turn gets what is queued', () => {
    continuing();
    send('s');
    expect(chat.last?.data).toMatchObject({ send: 's', withdrawn: 'c1' });
    expect(chat.state.continuation).toBeNull();
    expect(start('t', { continuation: 'c1' })).toBe('continuation_over');
    expect(start('t', { send: 's' })).toBe('accepted');
    expect(chat.last?.data).toMatchObject({ send: 's', withdrawn: null, answers: [owed('q')] });
    expect(chat.state).toMatchObject({ sends: [], queue: [] });
  });

  test.each<[string, () => void, string]>([
    ['withdrawn', () => void withdraw('s'), 'withdrawn'],
    ['lapsed', () => lapseAfter(SEND_SECONDS), 'lapsed'],
  ])('that is %s lets the continuation begin that it held back', (_how, end, reason) => {
    continuing();
    send('s');
    end();
    expect(chat.last?.data).toEqual({ send: 's', reason, continuation: 'c2' });
    expect(chat.state).toMatchObject({ sends: [], continuation: 'c2', queue: [owed('q')] });
  });

  test('that is not the last one holds back still', () => {
    continuing();
    send('s');
    send('s2');
    withdraw('s');
    expect(chat.last?.data).toMatchObject({ continuation: null });
    withdraw('s2');
    expect(chat.last?.data).toMatchObject({ continuation: 'c2' });
  });

  test('ends without a continuation when nothing is queued, or a turn runs', () => {
    admitting();
    withdraw('s');
    expect(chat.last?.data).toMatchObject({ continuation: null });
    busy();
    send('s2');
    ask('q');
    settle('q');
    withdraw('s2');
    expect(chat.last?.data).toMatchObject({ continuation: null });
    expect(chat.state.continuation).toBeNull();
  });

  test('can begin while a turn runs, and does not end it', () => {
    busy();
    expect(send('s')).toBe('accepted');
    expect(chat.state).toMatchObject({ turn: { id: 't' }, sends: [{ id: 's' }] });
  });

  test('is known once, and over afterwards', () => {
    admitting();
    expect(send('s')).toBe('send_known');
    expect(withdraw('other')).toBe('send_over');
    withdraw('s');
    expect(withdraw('s')).toBe('send_over');
    expect(start('t', { send: 's' })).toBe('send_over');
  });

  test('lapses after a minute, and not before', () => {
    admitting();
    chat.pass(SEND_SECONDS - 0.001);
    expect(lapse()).toBe('not_due');
    chat.pass(0.001);
    expect(start('t', { send: 's' })).toBe('send_over');
    expect(chat.events.at(-1)).toMatchObject({ actor: 'system:expiry', data: { reason: 'lapsed' } });
  });
});

describe('a turn', () => {
  test('that is started for the continuation gets what is queued, once', () => {
    continuing();
    expect(start('t', { continuation: 'c1' })).toBe('accepted');
    expect(chat.last?.data).toMatchObject({ continuation: 'c1', withdrawn: null, answers: [owed('q')] });
    expect(chat.state).toMatchObject({ continuation: null, queue: [] });
    boundary('t');
    expect(chat.last?.data).toMatchObject({ answers: [] });
    finish('t');
    expect(chat.last?.data).toMatchObject({ continuation: null });
    expect(start('t2', { continuation: 'c1' })).toBe('continuation_over');
  });

  test('that is started for something else gets it too, and makes the continuation needless', () => {
    continuing();
    start('t');
    expect(chat.last?.data).toMatchObject({ continuation: null, withdrawn: 'c1', answers: [owed('q')] });
    finish('t');
    expect(start('t2', { continuation: 'c1' })).toBe('continuation_over');
  });

  test.each<[string, () => void]>([
    ['idle', idle],
    ['admitting a send', admitting],
  ])('cannot be started for a continuation that is not there: %s', (_what, given) => {
    given();
    expect(start('t', { continuation: 'c1' })).toBe('continuation_over');
  });

  test('is alone', () => {
    busy();
    expect(start('t2')).toBe('conversation_busy');
    expect(start('t')).toBe('conversation_busy');
    send('s');
    expect(start('t2', { send: 's' })).toBe('conversation_busy');
  });

  test('gets at its boundary what was queued since', () => {
    waiting();
    start('t');
    settle('q');
    boundary('t');
    expect(chat.last?.data).toMatchObject({ turn: 't', answers: [owed('q')] });
    expect(chat.state.queue).toEqual([]);
    finish('t');
    expect(chat.last?.data).toMatchObject({ continuation: null });
  });

  test('that finishes without having read it is followed by one continuation', () => {
    waiting();
    start('t');
    settle('q');
    finish('t');
    expect(chat.last?.data).toMatchObject({ reason: 'finished', continuation: 'c1' });
    expect(chat.state).toMatchObject({ turn: null, continuation: 'c1', queue: [owed('q')] });
  });

  test('that finishes while a send is being admitted is not: that goes first', () => {
    waiting();
    start('t');
    settle('q');
    send('s');
    finish('t');
    expect(chat.last?.data).toMatchObject({ continuation: null });
    start('t2', { send: 's' });
    expect(chat.last?.data).toMatchObject({ answers: [owed('q')] });
  });

  test('is over when it is not the one that runs', () => {
    for (const given of [idle, continuing, admitting]) {
      chat = new SimulatedConversation();
      given();
      expect([boundary('t'), finish('t')]).toEqual(['turn_over', 'turn_over']);
    }
    busy();
    expect([boundary('t0'), finish('t0')]).toEqual(['turn_over', 'turn_over']);
  });

  test('lapses as if it had finished, when its lease ends without a boundary', () => {
    waiting();
    start('t');
    ask('own', 't');
    chat.pass(LEASE_SECONDS / 2);
    boundary('t');
    settle('q');
    chat.pass(LEASE_SECONDS - 0.001);
    expect(lapse()).toBe('not_due');
    chat.pass(0.001);
    expect(finish('t')).toBe('turn_over');
    expect(chat.last).toMatchObject({
      actor: 'system:expiry',
      data: { turn: 't', reason: 'lapsed', detached: ['own'], continuation: 'c1' },
    });
  });

  test('that has lapsed is no longer whom an outcome goes to', () => {
    busy();
    ask('q', 't');
    chat.pass(LEASE_SECONDS);
    settle('q');
    expect(chat.events.map(({ type }) => type).slice(-2)).toEqual([
      'conversation.turn_finished',
      'conversation.question_settled',
    ]);
    expect(chat.last?.data).toMatchObject({ as: 'queued', continuation: 'c1' });
  });
});

describe('a stop', () => {
  test.each(['stopped', 'deleted'] as const)('(%s) cancels questions and drops what is queued', (reason) => {
    continuing();
    ask('q2');
    stop(reason);
    expect(chat.last?.data).toEqual({
      reason,
      turn: null,
      sends: [],
      cancelled: ['q2'],
      dropped: [owed('q')],
      withdrawn: 'c1',
    });
    expect(chat.state).toMatchObject({ questions: [], queue: [], continuation: null });
    expect(settle('q2')).toBe('nothing');
    expect(start('late', { continuation: 'c1' })).toBe('continuation_over');
  });

  test('ends the turn that runs', () => {
    busy();
    ask('q', 't');
    stop();
    expect(chat.last?.data).toMatchObject({ turn: 't', cancelled: ['q'] });
    expect(chat.state.turn).toBeNull();
    expect([boundary('t'), finish('t')]).toEqual(['turn_over', 'turn_over']);
  });

  test('lets a message that is on its way come, a deletion does not', () => {
    admitting();
    stop();
    expect(chat.state.sends).toHaveLength(1);
    stop('deleted');
    expect(chat.last?.data).toMatchObject({ sends: ['s'] });
    expect(chat.state.sends).toEqual([]);
    expect(start('t', { send: 's' })).toBe('send_over');
  });

  test('of a conversation that is at rest is recorded as well, and it goes on', () => {
    idle();
    expect(stop()).toBe('accepted');
    expect(chat.last?.data).toMatchObject({ turn: null, cancelled: [], dropped: [], withdrawn: null });
    expect(start('t')).toBe('accepted');
  });
});

describe('the guard', () => {
  test('of what is decided while something can lapse ends there', () => {
    busy();
    const until = new Date(Date.parse(chat.now) + LEASE_SECONDS * 1_000).toISOString();
    expect(chat.decide({ kind: 'ReachBoundary', turn: 't' })).toMatchObject({
      kind: 'accepted',
      guard: { notAfter: until, lifetimeMs: LEASE_SECONDS * 1_000 },
    });
    send('s');
    const sendUntil = new Date(Date.parse(chat.now) + SEND_SECONDS * 1_000).toISOString();
    expect(chat.decide({ kind: 'FinishTurn', turn: 't' })).toMatchObject({ guard: { notAfter: sendUntil } });
    chat.pass(LEASE_SECONDS);
    expect(chat.decide({ kind: 'FinishTurn', turn: 't' })).toEqual({ kind: 'overdue' });
    expect(chat.decide({ kind: 'LapseConversation' })).toMatchObject({ guard: { notBefore: sendUntil } });
  });

  test('of what is decided at rest is none', () => {
    idle();
    expect(chat.decide({ kind: 'NoteQuestion', question: 'q', turn: null })).toMatchObject({ guard: {} });
    expect(chat.decide({ kind: 'BeginSend', send: 's' })).toMatchObject({
      guard: { lifetimeMs: SEND_SECONDS * 1_000 },
    });
    expect(lapse()).toBe('not_due');
  });

  test('of two lapses at the same instant the send`s comes first', () => {
    chat.do({ kind: 'StartTurn', turn: 't', send: null, continuation: null, leaseSeconds: SEND_SECONDS });
    send('s');
    chat.pass(SEND_SECONDS);
    lapse();
    expect(chat.last?.type).toBe('conversation.send_ended');
    lapse();
    expect(chat.last?.type).toBe('conversation.turn_finished');
  });
});
