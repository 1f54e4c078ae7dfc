import { createHmac, createPrivateKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

const SECRET_PREFIX = 'whsec_';
const PUBLIC_KEY_PREFIX = 'whpk_';
const SECRET_BYTES = 32;
/** Of the raw key at the end of an Ed25519 key in SPKI form (RFC 8410). */
const ED25519_KEY_BYTES = 32;

export interface Signable {
  readonly id: string;
  /** Seconds since the epoch. */
  readonly timestamp: number;
  readonly body: string;
}

export interface SigningKeys {
  /** `whsec_…`, the newest first. */
  readonly secrets: readonly string[];
  /** PKCS #8 in PEM. */
  readonly ed25519?: string | undefined;
}

/** A secret as Standard Webhooks has it: 32 random bytes. */
export function newWebhookSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

/** A pair of keys: the private one in PEM, the public one as `whpk_` and the raw key in base64. */
export function newKeyPair(): { readonly privateKey: string; readonly publicKey: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const raw = publicKey.export({ type: 'spki', format: 'der' }).subarray(-ED25519_KEY_BYTES);
  return {
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    publicKey: PUBLIC_KEY_PREFIX + raw.toString('base64'),
  };
}

/** The value of `webhook-signature`: one signature for each key, with spaces between (standardwebhooks.com). */
export function signatureOf({ id, timestamp, body }: Signable, { secrets, ed25519 }: SigningKeys): string {
  const signed = Buffer.from(`${id}.${timestamp}.${body}`);
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
  });
  if (ed25519 !== undefined) {
    signatures.push(`v1a,${sign(null, signed, createPrivateKey(ed25519)).toString('base64')}`);
  }
  return signatures.join(' ');
}
