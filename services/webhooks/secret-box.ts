import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = 'aes-256-gcm';

/** What was sealed with another key than the present one. */
export class SecretUnreadable extends Error {
  override readonly name = 'SecretUnreadable';

  constructor() {
    super('a secret was sealed with another WEBHOOKS_SECRET_KEY than the present one');
  }
}

/** Seals what the database must not be able to read: AES-256-GCM as nonce, ciphertext and tag. */
export class SecretBox {
  /** A key of 32 bytes. */
  constructor(private readonly key: Buffer) {}

  seal(text: string): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.key, nonce);
    return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  }

  /** Throws `SecretUnreadable`. */
  open(sealed: Buffer): string {
    const decipher = createDecipheriv(CIPHER, this.key, sealed.subarray(0, NONCE_BYTES));
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
    const ciphertext = sealed.subarray(NONCE_BYTES, -TAG_BYTES);
    try {
      return Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString('utf8');
    } catch {
      throw new SecretUnreadable();
    }
  }
}
