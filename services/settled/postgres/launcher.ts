import { setTimeout as delay } from 'node:timers/promises';
import type { DataDirectory } from './data-directory.js';
import type { LaunchedServer } from './launch-server.js';
import { discardStaleFile } from './postmaster-file.js';
import { reasonInLog } from './server-log.js';

export interface LauncherOptions {
  readonly directory: DataDirectory;
  readonly launch: () => Promise<LaunchedServer>;
  readonly logFile: string;
  readonly log: (line: string) => void;
}

/** Processes of a killed server end once they notice; until then the directory is not free. */
const BUSY_TIMEOUT_MS = 30_000;
const BUSY_PAUSE_MS = 250;
/** lock_file_exists: the directory, or its shared memory, is in use. */
const IN_USE = / F0001 /;

/** Launches a server, and again as long as all that stopped the last one was that the directory was in use. */
export class Launcher {
  #last: LaunchedServer | undefined;
  #busySince: number | undefined;

  constructor(private readonly options: LauncherOptions) {}

  launched(pid: number): boolean {
    return this.#last?.pid === pid;
  }

  async launchUnlessPending(): Promise<void> {
    if (this.#last !== undefined) {
      if (!this.#last.hasExited()) return;
      await this.#requireBusyDirectory(this.#last);
    }
    const { directory, launch, log } = this.options;
    const stale = await discardStaleFile(directory);
    if (stale !== undefined)
      log(`PostgreSQL process ${stale.pid} ended without a shutdown; recovering ${directory.path}`);
    this.#last = await launch();
  }

  async #requireBusyDirectory(failed: LaunchedServer): Promise<void> {
    const { directory, logFile } = this.options;
    const reason = await reasonInLog(logFile, failed.logStart, failed.pid);
    this.#busySince ??= performance.now();
    const patient = performance.now() - this.#busySince < BUSY_TIMEOUT_MS;
    if (!IN_USE.test(reason) || !patient) {
      throw new Error(`PostgreSQL does not start on ${directory.path}: ${reason} (see ${logFile})`);
    }
    await delay(BUSY_PAUSE_MS);
  }
}
