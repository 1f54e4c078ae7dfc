import { describe, expect, it } from '@jest/globals';
import { AskBodySchema } from '#contracts';
import { faults, filler } from '../../test/support/schema-faults.js';

const MINIMAL = {
  prompt: 'Deploy?',
  options: [{ id: 'yes', label: 'Yes' }],
  scope: { kind: 'direct', user: 'user:ada' },
};

function asking(body: Readonly<Record<string, unknown>>): readonly string[] {
  return faults(AskBodySchema, { ...MINIMAL, ...body });
}

function options(count: number): readonly { id: string; label: string }[] {
  return Array.from({ length: count }, (_, index) => ({ id: `o${index}`, label: 'An option' }));
}

describe('asking takes', () => {
  it('the least that a question needs, and fills the rest', () => {
    expect(AskBodySchema.parse(MINIMAL)).toStrictEqual({
      ...MINIMAL,
      allowText: false,
      allowSkip: false,
      metadata: {},
    });
  });

  it.each([
    ['a prompt of 1 character', { prompt: '?' }],
    ['a prompt of 2,000 characters that are two UTF-16 units each', { prompt: '🙂'.repeat(2_000) }],
    ['a prompt with space around it', { prompt: ' Deploy? ' }],
    ['a context of 16 KiB of two-byte characters', { context: 'é'.repeat(8 * 1_024) }],
    ['an empty context', { context: '' }],
    ['metadata of 4 KiB', { metadata: { a: 'é'.repeat(2_044) } }],
    ['metadata of every kind of JSON', { metadata: { a: [null, true, 1.5, 'x', { b: {} }] } }],
    ['20 options', { options: options(20) }],
    ['no options but a typed answer', { options: [], allowText: true }],
    ['a default among the options', { defaultOption: 'yes' }],
    ['a lifetime of 1 s', { expiresIn: 1 }],
    ['a lifetime of 90 days', { expiresIn: 7_776_000 }],
    ['a deadline', { expiresAt: '2026-11-30T17:28:00.000Z' }],
    ['a room', { scope: { kind: 'room', room: 'ops' } }],
    ['a conversation and a turn of it', { conversation: 'c-1', turn: 't-1' }],
    ['a conversation without a turn', { conversation: 'c-1' }],
    ['null for what may be left out', { context: null, defaultOption: null, conversation: null, turn: null }],
  ])('%s', (_what, body) => {
    expect(asking(body)).toStrictEqual([]);
  });

  it('a deadline with an offset, and turns it to UTC', () => {
    const body = AskBodySchema.parse({ ...MINIMAL, expiresAt: '2026-11-30T18:28:00+01:00' });

    expect(body.expiresAt).toBe('2026-11-30T17:28:00.000Z');
  });
});

describe('asking refuses', () => {
  it.each([
    ['an empty prompt', 'prompt', { prompt: '' }],
    ['a prompt of white space only', 'prompt', { prompt: ' \n\t\u00a0' }],
    ['a prompt of 2,001 characters', 'prompt', { prompt: '🙂'.repeat(2_001) }],
    ['no prompt', 'prompt', { prompt: undefined }],
    ['null for a prompt', 'prompt', { prompt: null }],
    ['a context one byte above 16 KiB', 'context', { context: `${'é'.repeat(8 * 1_024)}.` }],
    ['metadata one byte above 4 KiB', 'metadata', { metadata: { a: `${'é'.repeat(2_044)}.` } }],
    ['metadata that is a list', 'metadata', { metadata: [] }],
    ['null for metadata', 'metadata', { metadata: null }],
    ['21 options', 'options', { options: options(21) }],
    ['no options and no typed answer', 'options', { options: [] }],
    ['two options of one id', 'options', { options: [...options(2), ...options(1)] }],
    ['an option without a label', 'options.0.label', { options: [{ id: 'yes' }] }],
    ['an option without an id', 'options.0.id', { options: [{ id: '', label: 'Yes' }] }],
    [
      'an option with a field of its own',
      'options.0',
      { options: [{ id: 'yes', label: 'Yes', color: 'red' }] },
    ],
    ['a line break in the id of an option', 'options.0.id', { options: [{ id: 'y\nes', label: 'Yes' }] }],
    [
      'an id of an option of 201 characters',
      'options.0.id',
      { options: [{ id: filler(201), label: 'Yes' }] },
    ],
    ['a default that is none of the options', 'defaultOption', { defaultOption: 'Yes' }],
    [
      'a default where there are no options',
      'defaultOption',
      { options: [], allowText: true, defaultOption: 'yes' },
    ],
    ['a lifetime of less than 1 s', 'expiresIn', { expiresIn: 0.999 }],
    ['a lifetime of more than 90 days', 'expiresIn', { expiresIn: 7_776_001 }],
    ['a lifetime in words', 'expiresIn', { expiresIn: '60' }],
    ['a lifetime beside a deadline', 'expiresAt', { expiresIn: 60, expiresAt: '2026-11-30T17:28:00Z' }],
    ['a deadline that is no time', 'expiresAt', { expiresAt: 'tomorrow' }],
    ['a turn without its conversation', 'turn', { turn: 't-1' }],
    ['a direct question without a user', 'scope.user', { scope: { kind: 'direct' } }],
    [
      'a direct question that also names a room',
      'scope',
      { scope: { kind: 'direct', user: 'user:ada', room: 'ops' } },
    ],
    ['a question to a room without one', 'scope.room', { scope: { kind: 'room' } }],
    ['another kind of scope', 'scope.kind', { scope: { kind: 'everybody' } }],
    ['no scope', 'scope', { scope: undefined }],
    ['an asker in the body', '', { asker: 'user:mallory' }],
    ['a state in the body', '', { state: 'answered' }],
    ['a yes in words', 'allowText', { allowText: 'true' }],
  ])('%s', (_what, path, body) => {
    expect(asking(body)).toStrictEqual([path]);
  });

  it('everything that is wrong at once, each field with an entry', () => {
    expect(asking({ prompt: '', expiresIn: 0, allowSkip: 1, scope: null })).toStrictEqual([
      'prompt',
      'allowSkip',
      'scope',
      'expiresIn',
    ]);
  });

  it.each([null, [], 'Deploy?', 1, true])('a body that is %j', (body) => {
    expect(faults(AskBodySchema, body)).toStrictEqual(['']);
  });
});
