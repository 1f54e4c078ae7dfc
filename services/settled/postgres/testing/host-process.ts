import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { EmbeddedPostgres } from '../embedded-postgres.js';

const TYPESCRIPT = new URL('../../../../test/support/typescript.mjs', import.meta.url).href;
export const HOST_SCRIPT = fileURLToPath(new URL('./host-main.ts', import.meta.url));

interface HostOptions extends SpawnOptions {
  /** A command that runs the one it is given. */
  readonly through?: string[];
  /** The host's source, if not the one beside us. */
  readonly script?: string;
}

export interface HostMessage {
  readonly connection?: EmbeddedPostgres['connection'];
  readonly error?: string;
  readonly answered?: boolean;
}

/** A host in a process group of its own. */
export class HostProcess {
  readonly child: ChildProcess;
  readonly exited: Promise<void>;
  readonly #messages: AsyncIterator<string>;

  constructor(dataDir: string, { through = [], script = HOST_SCRIPT, ...options }: HostOptions = {}) {
    const node = [process.execPath, '--import', TYPESCRIPT, script, dataDir];
    const [command = '', ...args] = [...through, ...node];
    this.child = spawn(command, args, { ...options, detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
    this.exited = new Promise((resolve) => this.child.once('exit', () => resolve()));
    if (this.child.stdout === null) throw new Error('the host has no output');
    this.#messages = createInterface(this.child.stdout)[Symbol.asyncIterator]();
  }

  async says(): Promise<HostMessage> {
    const { value } = await this.#messages.next();
    return JSON.parse(value ?? '{"error":"the host ended"}');
  }

  /** To the whole group, as a terminal does. */
  signal(signal: NodeJS.Signals): void {
    if (this.child.pid !== undefined) process.kill(-this.child.pid, signal);
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.exited;
  }
}
