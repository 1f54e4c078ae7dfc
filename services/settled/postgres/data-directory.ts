import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ServerAccount } from './server-account.js';

/** A cluster on disk. */
export interface DataDirectory {
  readonly path: string;
  readonly account: ServerAccount | undefined;
  /** Device and inode: the same however the directory is reached, and after it was moved. */
  readonly identity: string;
}

/** A file that we leave in every cluster we make, so that nobody else's is ever started or adopted. */
export const OWN_CLUSTER_FILE = 'settled';

export async function identifyDirectory(
  path: string,
  account: ServerAccount | undefined,
): Promise<DataDirectory> {
  return { path, account, identity: await directoryIdentity(path) };
}

/** Follows links, those of /proc included. */
export async function directoryIdentity(path: string): Promise<string> {
  const { dev, ino } = await stat(path, { bigint: true });
  return `${dev}:${ino}`;
}

/** False for a directory that is missing or empty; throws if it holds anything but a cluster we can start. */
export async function holdsOurCluster(path: string, majorVersion: string): Promise<boolean> {
  if (!(await isDirectoryOfOurs(path))) return false;
  const entries = await readdir(path);
  if (entries.length === 0) return false;

  if (!entries.includes('PG_VERSION')) {
    throw new Error(
      `${path} is neither empty nor a PostgreSQL data directory; choose another data directory`,
    );
  }
  const version = (await readFile(join(path, 'PG_VERSION'), 'utf8')).trim();
  if (version !== majorVersion) {
    throw new Error(
      `${path} was made by PostgreSQL ${version}, this is PostgreSQL ${majorVersion}; upgrade or dump it first`,
    );
  }
  if (!entries.includes(OWN_CLUSTER_FILE)) {
    throw new Error(
      `${path} is a PostgreSQL data directory that Settled did not make; choose another data directory`,
    );
  }
  return true;
}

async function isDirectoryOfOurs(path: string): Promise<boolean> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new Error(`Cannot read the PostgreSQL data directory ${path}: ${error.message}`);
  });
  if (found === undefined) return false;
  if (!found.isDirectory()) throw new Error(`${path} is not a directory; PostgreSQL keeps its data there`);

  const uid = process.getuid?.();
  if (uid !== 0 && found.uid !== uid) {
    throw new Error(
      `${path} belongs to another user (uid ${found.uid}, we are ${uid}); start as that user or as root`,
    );
  }
  return true;
}
