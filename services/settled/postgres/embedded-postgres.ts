import { constants } from 'node:fs';
import { access, mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { claimRunningServer } from './claim-running-server.js';
import { ensureCluster, removeUnfinishedClusters } from './cluster-creation.js';
import { identifyDirectory } from './data-directory.js';
import { launchServer } from './launch-server.js';
import { reasonOf } from './reason.js';
import { chooseServerAccount } from './server-account.js';
import { findServerBinaries } from './server-binaries.js';
import { SupervisedServer } from './supervised-server.js';

export interface EmbeddedPostgres {
  /** node-postgres settings: the host is a Unix socket directory, the port only names the socket file in it. */
  readonly connection: { host: string; port: number; user: string; database: string };
  /** Resolves when the server process is gone without stop() having been called. */
  readonly exited: Promise<void>;
  /** Ends the server in order. Rejects if it outlives both shutdowns. */
  stop(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  /** The cluster lives in `postgres` below it, the server's log in `postgres.log`. */
  readonly dataDir: string;
  readonly log: (line: string) => void;
  /** PostgreSQL parameters that win over the built-in ones. */
  readonly settings?: Record<string, string>;
}

/**
 * Resolves with a server that answers on a data directory which no other live process uses.
 *
 * A server left behind by a killed process is adopted, never doubled. The directory belongs to the caller until stop()
 * or until its process dies. Rejects with a one-line message that names what is wrong and where.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { log, settings = {} } = options;
  const dataDir = resolve(options.dataDir);
  await requireWritable(dataDir);

  const path = join(dataDir, 'postgres');
  const logFile = join(dataDir, 'postgres.log');
  const account = await chooseServerAccount(path);
  const binaries = await findServerBinaries(account);
  await ensureCluster({ path, account, binaries, logFile, log });

  const directory = await identifyDirectory(path, account);
  const launch = () => launchServer({ directory, binaries, logFile, settings });
  const claimed = await claimRunningServer({ directory, launch, logFile, log });
  await removeUnfinishedClusters(path);
  return new SupervisedServer({ ...claimed, directory, log });
}

async function requireWritable(dataDir: string): Promise<void> {
  try {
    // Questions and answers are nobody else's to read.
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new Error(`Cannot write to the data directory ${dataDir}: ${reasonOf(error)}`);
  }
}
