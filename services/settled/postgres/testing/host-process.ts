import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { transformFile } from '@swc/core';
import type { EmbeddedPostgres } from '../embedded-postgres.js';

const here = dirname(fileURLToPath(import.meta.url));
export const nodeModules = join(here, '../../../../node_modules');

export interface HostMessage {
  readonly connection?: EmbeddedPostgres['connection'];
  readonly error?: string;
  readonly answered?: boolean;
}

/** Compiles this module into `folder`, from where plain Node can run it; returns the host's script. */
export async function compileHost(folder: string): Promise<string> {
  for (const part of ['', 'testing']) {
    await mkdir(join(folder, part), { recursive: true });
    for (const file of await readdir(join(here, '..', part))) {
      if (!file.endsWith('.ts') || file.endsWith('.spec.ts')) continue;
      const { code } = await transformFile(join(here, '..', part, file), {
        jsc: { target: 'es2023', parser: { syntax: 'typescript' } },
        module: { type: 'es6' },
      });
      await writeFile(join(folder, part, file.replace(/\.ts$/, '.js')), code);
    }
  }
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await symlink(nodeModules, join(folder, 'node_modules')).catch(() => undefined);
  return join(folder, 'testing', 'host-main.js');
}

/** A host in a process group of its own. */
export class HostProcess {
  readonly child: ChildProcess;
  readonly exited: Promise<void>;
  readonly #messages: AsyncIterator<string>;

  constructor(script: string, dataDir: string, options: SpawnOptions & { through?: string[] } = {}) {
    const [command = process.execPath, ...args] = [
      ...(options.through ?? []),
      process.execPath,
      script,
      dataDir,
    ];
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
