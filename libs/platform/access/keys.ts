import { createHash, randomBytes } from 'node:crypto';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { ACCESS_SCOPES, type AccessScope, DEFAULT_TENANT, type Key } from '#contracts';
import { inTransaction } from '../database.js';

export const KEY_PREFIX = 'stl_';
const KEY_BYTES = 32;

const INSTANT = `'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'`;
const COLUMNS = `id, subject, scopes, tenant, to_char(created_at AT TIME ZONE 'UTC', ${INSTANT}) AS "createdAt"`;

const INSERT = `INSERT INTO api_keys (id, tenant, subject, scopes, secret_hash) VALUES ($1, $2, $3, $4, $5)
  RETURNING ${COLUMNS}`;
const LIST = `SELECT ${COLUMNS} FROM api_keys WHERE revoked_at IS NULL AND ($1::text IS NULL OR tenant = $1)
  ORDER BY id LIMIT $2`;
const FIND = `SELECT id, subject, scopes, tenant FROM api_keys WHERE secret_hash = $1 AND revoked_at IS NULL`;
const REVOKE = `UPDATE api_keys SET revoked_at = now()
  WHERE id = $1 AND revoked_at IS NULL AND ($2::text IS NULL OR tenant = $2)`;
const INSTALL = `INSERT INTO api_keys (id, tenant, subject, scopes, secret_hash) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (secret_hash) DO UPDATE SET revoked_at = NULL`;
const COUNT_CHANGE = 'UPDATE access_revision SET revision = revision + 1';

const LIST_MAX = 10_000;

export interface NewKey {
  readonly subject: string;
  readonly scopes: readonly AccessScope[];
  readonly tenant: string;
}

export interface KeyOwner {
  readonly id: string;
  readonly subject: string;
  readonly scopes: AccessScope[];
  readonly tenant: string;
}

/** A new secret: 256 random bits, with a prefix that secret scanners can look for. */
export function newSecret(): string {
  return KEY_PREFIX + randomBytes(KEY_BYTES).toString('base64url');
}

function hashOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

export async function insertKey(client: Pick<pg.Pool, 'query'>, secret: string, key: NewKey): Promise<Key> {
  const values = [uuidv7(), key.tenant, key.subject, key.scopes, hashOf(secret)];
  const { rows } = await client.query<Key>(INSERT, values);
  return rows[0] as Key;
}

/** Makes sure that a secret chosen by the operator is the key of an admin who may do everything. */
export async function installAdminKey(pool: pg.Pool, secret: string): Promise<void> {
  await pool.query(INSTALL, [uuidv7(), DEFAULT_TENANT, 'admin', ACCESS_SCOPES, hashOf(secret)]);
}

/** The live keys of a tenant, or of all when it is null, oldest first. */
export async function listKeys(pool: pg.Pool, tenant: string | null): Promise<Key[]> {
  const { rows } = await pool.query<Key>(LIST, [tenant, LIST_MAX]);
  return rows;
}

export async function findKey(pool: pg.Pool, secret: string): Promise<KeyOwner | undefined> {
  const { rows } = await pool.query<KeyOwner>({ name: 'find_key', text: FIND, values: [hashOf(secret)] });
  return rows[0];
}

/** Revokes a key of a tenant, or of any when it is null; false when there is none. */
export async function revokeKey(pool: pg.Pool, id: string, tenant: string | null): Promise<boolean> {
  return await inTransaction(pool, async (client) => {
    const { rowCount } = await client.query(REVOKE, [id, tenant]);
    await countAccessChange(client);
    return rowCount === 1;
  });
}

/** To be called in the transaction that takes a key or a membership away, or gives one. */
export async function countAccessChange(client: Pick<pg.ClientBase, 'query'>): Promise<void> {
  await client.query(COUNT_CHANGE);
}
