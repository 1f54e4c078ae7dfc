import { describe, expect, it } from '@jest/globals';
import { EnvelopeSchema } from '#contracts';
import { faults } from '../../test/support/schema-faults.js';

/** The example of the REST contract. */
const ENVELOPE = {
  object: 'question',
  id: '01939a4e-0000-7000-8000-000000000001',
  tenant: 'default',
  version: 2,
  state: 'answered',
  asker: 'agent:deployer',
  scope: { kind: 'direct', user: 'user:ada' },
  prompt: 'Deploy build 1234?',
  context: null,
  options: [
    { id: 'yes', label: 'Yes' },
    { id: 'no', label: 'No' },
  ],
  allowText: false,
  allowSkip: false,
  conversation: null,
  turn: null,
  metadata: {},
  askedAt: '2026-11-30T17:00:00.000Z',
  expiresAt: '2026-11-30T17:28:00.000Z',
  outcome: {
    kind: 'answered',
    at: '2026-11-30T17:20:00.000Z',
    by: 'user:ada',
    answer: { kind: 'option', option: { id: 'yes', label: 'Yes' } },
    words: 'user:ada answered: Yes',
  },
};

describe('the envelope', () => {
  it('is that of the contract', () => {
    expect(EnvelopeSchema.parse(ENVELOPE)).toStrictEqual(ENVELOPE);
  });

  it.each(Object.keys(ENVELOPE))('always has %s', (key) => {
    expect(faults(EnvelopeSchema, { ...ENVELOPE, [key]: undefined })).toStrictEqual([key]);
  });

  it('has nothing else', () => {
    expect(faults(EnvelopeSchema, { ...ENVELOPE, defaultOption: 'yes' })).toStrictEqual(['']);
  });

  it.each(['2026-11-30T17:28:00Z', '2026-11-30T17:28:00.0000Z', '2026-11-30T17:28:00.000+00:00'])(
    'writes no instant as %s',
    (expiresAt) => {
      expect(faults(EnvelopeSchema, { ...ENVELOPE, expiresAt })).toStrictEqual(['expiresAt']);
    },
  );
});
