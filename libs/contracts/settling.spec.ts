import { describe, expect, it } from '@jest/globals';
import { AnswerBodySchema, CancelBodySchema } from '#contracts';
import { faults, filler } from '../../test/support/schema-faults.js';

describe('an answer is', () => {
  it.each([
    ['an option', { option: 'yes' }],
    ['an option whose id is not known yet, which its question judges', { option: '' }],
    ['a text of 1 character', { text: '.' }],
    ['a text of 4,000 characters that are two UTF-16 units each', { text: '🙂'.repeat(4_000) }],
    ['a skip', { skip: true }],
  ])('%s', (_what, body) => {
    expect(AnswerBodySchema.parse(body)).toStrictEqual(body);
  });

  it('the words of the responder, not trimmed', () => {
    expect(AnswerBodySchema.parse({ text: '  Not yet\n' })).toStrictEqual({ text: '  Not yet\n' });
  });
});

describe('an answer is not', () => {
  it.each([
    ['nothing', [''], {}],
    ['an option and a text', [''], { option: 'yes', text: 'Yes' }],
    ['an option and a skip', [''], { option: 'yes', skip: true }],
    ['all three', [''], { option: 'yes', text: 'Yes', skip: true }],
    ['an empty text', ['text'], { text: '' }],
    ['a text of white space only', ['text'], { text: ' \n\u3000' }],
    ['a text of 4,001 characters', ['text'], { text: '🙂'.repeat(4_001) }],
    ['no skip', ['skip'], { skip: false }],
    ['null for an option', ['option'], { option: null }],
    ['a label that the client made', [''], { option: 'yes', label: 'No' }],
    ['a responder that the client named', [''], { option: 'yes', by: 'user:ada' }],
  ])('%s', (_what, paths, body) => {
    expect([...new Set(faults(AnswerBodySchema, body))]).toStrictEqual(paths);
  });

  it.each([null, [], 'yes', 1])('%j', (body) => {
    expect(faults(AnswerBodySchema, body)).toStrictEqual(['']);
  });
});

describe('a withdrawal', () => {
  it.each([
    ['needs no reason', {}],
    ['takes null for a reason', { reason: null }],
    ['takes a reason of 1,000 characters', { reason: '🙂'.repeat(1_000) }],
  ])('%s', (_what, body) => {
    expect(CancelBodySchema.parse(body)).toStrictEqual(body);
  });

  it.each([
    ['an empty reason', ['reason'], { reason: '' }],
    ['a reason of white space only', ['reason'], { reason: '  ' }],
    ['a reason of 1,001 characters', ['reason'], { reason: filler(1_001) }],
    ['a name for the one who withdraws', [''], { by: 'agent:deployer' }],
  ])('refuses %s', (_what, paths, body) => {
    expect(faults(CancelBodySchema, body)).toStrictEqual(paths);
  });
});
