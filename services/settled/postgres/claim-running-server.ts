import { setTimeout as delay } from 'node:timers/promises';
import type { DataDirectory } from './data-directory.js';
import { type Claim, claimServer } from './directory-claim.js';
import { Launcher, type LauncherOptions } from './launcher.js';
import { findServer, type PostmasterFile } from './postmaster-file.js';
import { reasonOf } from './reason.js';

export interface ClaimedServer {
  readonly server: PostmasterFile;
  readonly claim: Claim;
}

/** A recovery replays at most max_wal_size; a slow disk needs minutes for that. */
const START_TIMEOUT_MS = 300_000;
const UNREACHABLE_TIMEOUT_MS = 10_000;
const POLL_MS = 10;

/**
 * Looks, launches if there is nothing, and looks again, until one server runs on the directory and is ours. What is on
 * disk decides, not who launched what: our own server, one that lost its owner and one that another start launched a
 * moment ago are all met the same way. PostgreSQL itself lets only one server into a directory.
 */
export async function claimRunningServer(options: LauncherOptions): Promise<ClaimedServer> {
  const { directory, logFile, log } = options;
  const deadline = performance.now() + START_TIMEOUT_MS;
  const launcher = new Launcher(options);
  const contact = new Contact(directory);

  while (performance.now() < deadline) {
    const server = await findServer(directory);
    if (server === undefined) await launcher.launchUnlessPending();
    const claim = server?.isReady ? await contact.claim(server) : undefined;
    if (server !== undefined && claim !== undefined) {
      log(
        `PostgreSQL ${launcher.launched(server.pid) ? 'started' : 'was running and is adopted'}, process ${server.pid}`,
      );
      return { server, claim };
    }
    await delay(POLL_MS);
  }
  throw new Error(
    `PostgreSQL on ${directory.path} is not ready after ${START_TIMEOUT_MS / 1000} s; see ${logFile}`,
  );
}

/** Claims, and tells a server that does not answer yet from one that cannot be reached. */
class Contact {
  #silent: { pid: number; since: number } | undefined;

  constructor(private readonly directory: DataDirectory) {}

  async claim(server: PostmasterFile): Promise<Claim | undefined> {
    try {
      const claim = await claimServer(server);
      if (claim !== undefined) return claim;
    } catch (error) {
      return this.#allowForAWhile(server, error);
    }
    throw new Error(
      `The data directory ${this.directory.path} is in use by another running Settled (its PostgreSQL is process ${server.pid})`,
    );
  }

  /** A server in recovery after a crash of its own, or in its last moments, still looks ready in its file. */
  #allowForAWhile(server: PostmasterFile, error: unknown): undefined {
    if (this.#silent?.pid !== server.pid) this.#silent = { pid: server.pid, since: performance.now() };
    if (performance.now() - this.#silent.since < UNREACHABLE_TIMEOUT_MS) return undefined;
    throw new Error(
      `PostgreSQL process ${server.pid} runs on ${this.directory.path} but cannot be reached (${reasonOf(error)}); end it with kill -INT ${server.pid}`,
    );
  }
}
