import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type pg from 'pg';
import { ACCESS_SCOPES, DEFAULT_TENANT } from '#contracts';
import { installKey, newSecret } from '#platform';

const ADMIN = { subject: 'admin', scopes: ACCESS_SCOPES, tenant: DEFAULT_TENANT };

/** Installs the operator's key: the given one, else the one in `DATA_DIR/admin.key`, which is made when it is missing. */
export async function installAdminKey(
  pool: pg.Pool,
  given: string | undefined,
  dataDir: string,
): Promise<string | undefined> {
  if (given !== undefined) {
    await installKey(pool, given, ADMIN);
    return undefined;
  }
  const file = resolve(join(dataDir, 'admin.key'));
  await installKey(pool, await readOrMake(file, dataDir), ADMIN);
  return file;
}

async function readOrMake(file: string, dataDir: string): Promise<string> {
  const existing = await readFile(file, 'utf8').catch(() => undefined);
  if (existing !== undefined) return existing.trim();
  const secret = newSecret();
  await mkdir(dataDir, { recursive: true });
  await writeFile(file, `${secret}\n`, { mode: 0o600, flag: 'wx' });
  return secret;
}
