import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { promisify } from 'node:util';

/** The user and group that the server's processes run as. */
export interface ServerAccount {
  readonly uid: number;
  readonly gid: number;
}

const LOOKUP_TIMEOUT_MS = 5_000;

/**
 * Undefined means: as ourselves. PostgreSQL refuses to run as root, so root lends it an account that exists already:
 * the one that owns the cluster, else the first of `candidates` (initdb insists on an entry in the user database).
 */
export async function chooseServerAccount(
  clusterPath: string,
  candidates: readonly string[] = ['postgres', 'nobody'],
): Promise<ServerAccount | undefined> {
  if (process.getuid?.() !== 0) return undefined;

  const owner = await ownerOf(clusterPath);
  if (owner !== undefined && owner.uid !== 0) return owner;

  for (const name of candidates) {
    const account = await accountNamed(name);
    if (account !== undefined) return account;
  }
  throw new Error(
    `PostgreSQL does not run as root, and this machine has no account named ${candidates.join(' or ')} to lend it`,
  );
}

async function ownerOf(path: string): Promise<ServerAccount | undefined> {
  try {
    const { uid, gid } = await stat(path);
    return { uid, gid };
  } catch {
    return undefined;
  }
}

async function accountNamed(name: string): Promise<ServerAccount | undefined> {
  try {
    const [uid, gid] = await Promise.all([askId('-u', name), askId('-g', name)]);
    return { uid, gid };
  } catch {
    return undefined;
  }
}

async function askId(option: '-u' | '-g', name: string): Promise<number> {
  const { stdout } = await promisify(execFile)('id', [option, name], { timeout: LOOKUP_TIMEOUT_MS });
  return Number.parseInt(stdout, 10);
}
