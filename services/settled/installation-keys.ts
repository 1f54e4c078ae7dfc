import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { newSecret } from '#platform';
import { newSecretKey } from '../webhooks/secret-key.js';
import type { HostSettings } from './settings.js';

export interface AdminKey {
  readonly secret: string;
  /** Where this installation keeps it. */
  readonly file?: string;
}

/** The operator's key: the given one, else the one in `DATA_DIR/admin.key`, which is made when it is missing. */
export async function adminKeyOf({ SETTLED_ADMIN_KEY: given, DATA_DIR }: HostSettings): Promise<AdminKey> {
  if (given !== undefined) return { secret: given };
  const file = resolve(join(DATA_DIR, 'admin.key'));
  return { secret: await readOrMake(file, DATA_DIR, newSecret), file };
}

/** What webhooks' secrets are sealed with, on the embedded database: it must not lie in that itself. */
export async function webhooksKeyOf({ DATA_DIR }: HostSettings): Promise<Buffer> {
  const file = resolve(join(DATA_DIR, 'webhooks.key'));
  return Buffer.from(await readOrMake(file, DATA_DIR, () => newSecretKey().toString('base64')), 'base64');
}

async function readOrMake(file: string, dataDir: string, make: () => string): Promise<string> {
  const existing = await readFile(file, 'utf8').catch(() => undefined);
  if (existing !== undefined) return existing.trim();
  const secret = make();
  await mkdir(dataDir, { recursive: true });
  await writeFile(file, `${secret}\n`, { mode: 0o600, flag: 'wx' });
  return secret;
}
