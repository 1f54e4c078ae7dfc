import type { ClaimedServer } from './claim-running-server.js';
import type { DataDirectory } from './data-directory.js';
import { claimServer } from './directory-claim.js';
import { waitUntilGone } from './server-process.js';
import { DATABASE_NAME, DATABASE_USER } from './server-settings.js';
import { removeSocketDirectory } from './socket-directory.js';
import { stopServer } from './stop-server.js';

interface SupervisionOptions extends ClaimedServer {
  readonly directory: DataDirectory;
  readonly log: (line: string) => void;
}

/** How long a server that cut our claim may take to be gone, before we claim it again. */
const RECLAIM_AFTER_MS = 100;

/** A claimed server, from now to its end. */
export class SupervisedServer {
  readonly connection: { host: string; port: number; user: string; database: string };
  readonly exited: Promise<void>;
  #claim: ClaimedServer['claim'];
  #stopping: Promise<void> | undefined;

  constructor(private readonly options: SupervisionOptions) {
    const { server, claim } = options;
    this.connection = {
      host: server.socketDirectory,
      port: server.port,
      user: DATABASE_USER,
      database: DATABASE_NAME,
    };
    this.#claim = claim;
    this.exited = new Promise((resolve) => {
      void this.#watch(resolve);
    });
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    const { server, directory } = this.options;
    await stopServer(server.pid, directory);
    await this.#claim.release();
    await removeSocketDirectory(server.socketDirectory);
  }

  /**
   * The claim's connection tells at once that the server goes, also an adopted one, which is no child of ours. A claim
   * that ended while the server lives (it restarts its processes when one of them crashes) is renewed.
   */
  async #watch(gone: () => void): Promise<void> {
    const { server, directory, log } = this.options;
    await this.#claim.ended;
    while (this.#stopping === undefined) {
      if (await waitUntilGone(server.pid, directory, RECLAIM_AFTER_MS)) break;
      const renewed = await claimServer(server).catch(() => undefined);
      if (renewed === undefined) continue;
      this.#claim = renewed;
      await renewed.ended;
    }
    if (this.#stopping !== undefined) return;
    log(`PostgreSQL process ${server.pid} on ${directory.path} is gone`);
    gone();
  }
}
