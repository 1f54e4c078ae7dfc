import { createPublicKey, verify } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { newKeyPair, newWebhookSecret, signatureOf } from './signature.js';

const VECTOR = {
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  timestamp: 1614265330,
  body: '{"test": 2432232314}',
};

describe('a signature', () => {
  test.each([
    ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='],
    ['whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD', 'v1,78nXHjpFP0tVJQW5D0SBwmVyyW87BV/rL6MgfM/Bw44='],
  ])('is that of the published vector with %s', (secret, signature) => {
    expect(signatureOf(VECTOR, { secrets: [secret] })).toBe(signature);
  });

  test('with each of several secrets is accepted by who knows one of them', () => {
    const secrets = [newWebhookSecret(), newWebhookSecret()];
    const timestamp = Math.floor(Date.now() / 1_000);
    const body = '{"type":"question.answered","words":"Grüße"}';
    const headers = {
      'webhook-id': 'm1',
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signatureOf({ id: 'm1', timestamp, body }, { secrets }),
    };
    for (const secret of secrets) expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
    expect(() => new Webhook(newWebhookSecret()).verify(body, headers)).toThrow();
  });

  test('by Ed25519 is verified with the public key', () => {
    const { privateKey, publicKey } = newKeyPair();
    const [, signature = ''] = signatureOf(VECTOR, { secrets: [], ed25519: privateKey }).split(',');
    const raw = Buffer.from(publicKey.slice('whpk_'.length), 'base64');
    expect(raw).toHaveLength(32);
    const spki = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), raw]);
    const key = createPublicKey({ key: spki, type: 'spki', format: 'der' });
    const signed = Buffer.from(`${VECTOR.id}.${VECTOR.timestamp}.${VECTOR.body}`);
    expect(verify(null, signed, key, Buffer.from(signature, 'base64'))).toBe(true);
  });

  test('has secrets of 32 bytes', () => {
    expect(newWebhookSecret()).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  });
});
