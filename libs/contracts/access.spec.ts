import { describe, expect, it } from '@jest/globals';
import { CreateKeyBodySchema } from '#contracts';
import { faults } from '../../test/support/schema-faults.js';

describe('a key', () => {
  it('has each scope once', () => {
    const body = { subject: 'user:ada', scopes: ['answer', 'ask', 'answer'], tenant: 'acme' };

    expect(CreateKeyBodySchema.parse(body)).toStrictEqual({ ...body, scopes: ['answer', 'ask'] });
  });

  it.each([
    ['without a scope', ['scopes'], { subject: 'user:ada', scopes: [] }],
    ['with a scope that does not exist', ['scopes.0'], { subject: 'user:ada', scopes: ['root'] }],
    ['with a space in its subject', ['subject'], { subject: 'user ada', scopes: ['ask'] }],
    ['with an empty tenant', ['tenant'], { subject: 'user:ada', scopes: ['ask'], tenant: '' }],
    ['that the client chose', [''], { subject: 'user:ada', scopes: ['ask'], key: 'secret' }],
  ])('is not made %s', (_what, paths, body) => {
    expect([...new Set(faults(CreateKeyBodySchema, body))]).toStrictEqual(paths);
  });
});
