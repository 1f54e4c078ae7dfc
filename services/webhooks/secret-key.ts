import { randomBytes } from 'node:crypto';
import type pg from 'pg';

const KEY_BYTES = 32;
const INSERT = 'INSERT INTO webhook_keys (key) VALUES ($1) ON CONFLICT DO NOTHING';
const SELECT = 'SELECT key FROM webhook_keys';

export function newSecretKey(): Buffer {
  return randomBytes(KEY_BYTES);
}

/** The key that the processes on one database share when they are given none: made by the first, kept next to what it seals. */
export async function keyInDatabase(pool: pg.Pool): Promise<Buffer> {
  await pool.query(INSERT, [newSecretKey()]);
  const { rows } = await pool.query<{ key: Buffer }>(SELECT);
  return (rows[0] as { key: Buffer }).key;
}
