import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type FileHandle, mkdtemp, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { holdsOurCluster, OWN_CLUSTER_FILE } from './data-directory.js';
import { directoryAccess, openDirectory } from './directory-access.js';
import type { ServerAccount } from './server-account.js';
import type { ServerBinaries } from './server-binaries.js';
import { serverEnvironment } from './server-environment.js';
import { openServerLog, reasonInLog } from './server-log.js';
import { DATABASE_USER } from './server-settings.js';

interface ClusterPlan {
  readonly path: string;
  readonly account: ServerAccount | undefined;
  readonly binaries: ServerBinaries;
  readonly logFile: string;
  readonly log: (line: string) => void;
}

const INITDB_TIMEOUT_MS = 120_000;
const UNFINISHED = '.new-';

const INITDB_OPTIONS = [
  `--username=${DATABASE_USER}`,
  // The socket lies in a directory that only the server's account and root can enter.
  '--auth=trust',
  '--encoding=UTF8',
  '--locale=C',
  // Upper, lower and regular expressions know Unicode, and the order never changes with a system library.
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
  '--no-instructions',
];

/**
 * Makes the cluster if there is none. It is made aside, synced by initdb and renamed into place, so a directory at
 * `path` is always complete, whatever was killed and when; of two makers at once the second rename fails and the
 * first cluster stands.
 */
export async function ensureCluster(plan: ClusterPlan): Promise<void> {
  const present = () => holdsOurCluster(plan.path, plan.binaries.majorVersion);
  if (await present()) return;

  plan.log(`creating the PostgreSQL data directory ${plan.path}`);
  const unfinished = await mkdtemp(`${plan.path}${UNFINISHED}`);
  try {
    await fillCluster(plan, unfinished);
    await rename(unfinished, plan.path);
    await syncFolder(dirname(plan.path));
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    if (!(await present())) throw error;
  }
}

/** Only for the owner of the cluster: nobody else may still be making one. */
export async function removeUnfinishedClusters(path: string): Promise<void> {
  const prefix = `${basename(path)}${UNFINISHED}`;
  for (const entry of await readdir(dirname(path))) {
    // An initdb that outlived its killed parent may still write here; the next start sweeps again.
    const remove = () =>
      rm(join(dirname(path), entry), { recursive: true, force: true }).catch(() => undefined);
    if (entry.startsWith(prefix)) await remove();
  }
}

async function fillCluster({ account, binaries, logFile }: ClusterPlan, folder: string): Promise<void> {
  const handle = await openDirectory(folder);
  try {
    if (account !== undefined) await handle.chown(account.uid, account.gid);
    await runInitdb({ folder, handle, account, initdb: binaries.initdb, logFile });
    await markAsOurs(folder, account);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function runInitdb(run: {
  folder: string;
  handle: FileHandle;
  account: ServerAccount | undefined;
  initdb: string;
  logFile: string;
}): Promise<void> {
  const { argument, inherited } = directoryAccess(run.folder, run.handle, run.account);
  const serverLog = await openServerLog(run.logFile, run.account);
  try {
    const child = spawn(run.initdb, [`--pgdata=${argument}`, ...INITDB_OPTIONS], {
      ...run.account,
      cwd: '/',
      env: serverEnvironment(),
      timeout: INITDB_TIMEOUT_MS,
      stdio: ['ignore', serverLog.handle.fd, serverLog.handle.fd, ...inherited],
    });
    const [code] = await once(child, 'exit');
    if (code === 0) return;
    const reason = await reasonInLog(run.logFile, serverLog.start, child.pid ?? 0);
    throw new Error(`PostgreSQL cannot create its data directory beside ${run.folder}: ${reason}`);
  } finally {
    await serverLog.handle.close();
  }
}

async function markAsOurs(folder: string, account: ServerAccount | undefined): Promise<void> {
  const file = await open(join(folder, OWN_CLUSTER_FILE), 'wx', 0o600);
  try {
    await file.writeFile('This PostgreSQL data directory belongs to Settled.\n');
    if (account !== undefined) await file.chown(account.uid, account.gid);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r');
  await handle.sync().finally(() => handle.close());
}
