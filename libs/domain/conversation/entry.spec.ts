import { describe, expect, test } from '@jest/globals';
import {
  type Conversation,
  conversationEntryOf,
  conversationOfStream,
  conversationStreamOf,
  DEADLINE_AT,
  decideConversation,
  detachedBy,
  UNMENTIONED,
} from '#domain';

const KEY = { tenant: 'acme', id: 'c' };
const by = 'agent:host';
const now = '2026-12-01T09:00:00.000Z';
const UNTIL = '2026-12-01T09:10:00.000Z';

function entryAfter(command: 'BeginSend' | 'StartTurn', state: Conversation) {
  const decision = decideConversation(
    command === 'BeginSend'
      ? { kind: command, send: 's', by, now }
      : { kind: command, turn: 't', send: null, continuation: null, leaseSeconds: 30, by, now },
    state,
  );
  if (decision.kind !== 'accepted') throw new Error(decision.kind);
  return conversationEntryOf(KEY, state, decision);
}

describe('the entry of a conversation`s event', () => {
  test('is the next of its stream, and carries the state after it', () => {
    const entry = entryAfter('StartTurn', UNMENTIONED);
    expect(entry).toMatchObject({
      tenant: 'acme',
      stream: 'conversation:c',
      version: 1,
      type: 'conversation.turn_started',
      actor: by,
      guard: { lifetimeMs: 30_000 },
      view: null,
      conversation: { id: 'c', owner: by, continuation: null },
    });
    expect(JSON.parse(entry.data)).toMatchObject({ turn: 't', leaseSeconds: 30, until: DEADLINE_AT });
    expect(JSON.parse(entry.conversation.state)).toEqual({
      ...UNMENTIONED,
      version: 1,
      owner: by,
      turn: { id: 't', leaseSeconds: 30, until: DEADLINE_AT, settled: [] },
    });
  });

  test('leaves the lapse that is counted from the commit to the log', () => {
    expect(entryAfter('StartTurn', UNMENTIONED).conversation.lapsesAt).toBeNull();
  });

  test('knows the first of the other lapses', () => {
    const turn = { id: 't', leaseSeconds: 30, until: UNTIL, settled: [] };
    const sends = ['2026-12-01T09:20:00.000Z', '2026-12-01T09:05:00.000Z'].map((until, index) => {
      return { id: `s${index}`, until };
    });
    const state = { ...UNMENTIONED, version: 3, owner: by };
    expect(entryAfter('BeginSend', { ...state, turn }).conversation.lapsesAt).toBe(UNTIL);
    expect(entryAfter('BeginSend', { ...state, sends }).conversation.lapsesAt).toBe(sends[1]?.until);
    expect(entryAfter('BeginSend', { ...state, turn, sends }).conversation.lapsesAt).toBe(sends[1]?.until);
  });
});

test('a stream is named after its conversation', () => {
  expect(conversationOfStream(conversationStreamOf('a:b'))).toBe('a:b');
  expect(conversationOfStream('question:1')).toBeUndefined();
});

test('the end of a turn tells what it detached, and nothing else does', () => {
  const data = JSON.stringify({
    turn: 't',
    reason: 'lapsed',
    detached: ['q'],
    settled: ['p'],
    continuation: null,
  });
  expect(detachedBy({ type: 'conversation.turn_finished', data })).toEqual(['q']);
  expect(detachedBy({ type: 'conversation.stopped', data: '{"cancelled":["q"]}' })).toEqual([]);
});
