import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { AccessScope } from '#contracts';

const READY_TIMEOUT_MS = 60_000;
const SERVICES = new URL('../../dist/services/', import.meta.url);

/** What a process runs: all in one, as `npm start` does, or one service. */
export type Program = 'settled' | 'questions' | 'expiry' | 'webhooks';

export interface Caller {
  readonly subject: string;
  readonly key: string;
}

/** A real Settled in a process of its own. */
export class SettledProcess {
  private constructor(
    readonly url: string,
    readonly adminKey: string,
    readonly child: ChildProcess,
  ) {}

  /** Starts one and waits for its ready line; the environment says which database it uses. */
  static async start(
    environment: Record<string, string>,
    adminKey = randomBytes(24).toString('hex'),
    program: Program = 'settled',
  ): Promise<SettledProcess> {
    const main = fileURLToPath(new URL(`${program}/main.js`, SERVICES));
    const child = spawn(process.execPath, [main], {
      env: {
        PATH: process.env.PATH ?? '',
        LOG_LEVEL: 'warn',
        PORT: '0',
        SETTLED_ADMIN_KEY: adminKey,
        ...environment,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const url = await readyUrl(child);
    return new SettledProcess(url, adminKey, child);
  }

  /** Makes a key; without a tenant it is of the default one. */
  async key(subject: string, scopes: readonly AccessScope[], tenant?: string): Promise<Caller> {
    const response = await this.call('POST', '/v1/keys', {
      key: this.adminKey,
      body: { subject, scopes, tenant },
    });
    if (response.status !== 201) throw new Error(`no key for ${subject}: ${response.status}`);
    return { subject, key: ((await response.json()) as { key: string }).key };
  }

  /** One request. A body that is not a string is sent as JSON. */
  async call(method: string, path: string, options: CallOptions = {}): Promise<Response> {
    const { key, body, headers = {}, signal } = options;
    return await fetch(`${this.url}${path}`, {
      method,
      headers: {
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  }

  /** In order: SIGTERM, until it is gone. Resolves with its exit code. */
  async stop(): Promise<number | null> {
    return await this.#end('SIGTERM');
  }

  /** As a crash does. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  async #end(signal: NodeJS.Signals): Promise<number | null> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return this.child.exitCode;
    const exit = once(this.child, 'exit');
    this.child.kill(signal);
    await exit;
    return this.child.exitCode;
  }
}

export interface CallOptions {
  readonly key?: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

async function readyUrl(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('stdout of the process is not piped');
  const timer = setTimeout(() => child.kill('SIGKILL'), READY_TIMEOUT_MS);
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const url = /^settled.* ready url=(\S+)$/.exec(line)?.[1];
      if (url !== undefined) return url;
    }
    throw new Error('the process ended before it was ready');
  } finally {
    clearTimeout(timer);
  }
}
