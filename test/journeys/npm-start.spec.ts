import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { createTestDatabase } from '../support/database.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const END_TIMEOUT_MS = 12_000;

test('npm start hands a SIGTERM on, and nothing is left running', async () => {
  const database = await createTestDatabase();
  const npm = spawn('npm', ['start'], {
    cwd: ROOT,
    detached: true,
    env: {
      ...process.env,
      PORT: '0',
      DATABASE_URL: database.url,
      SETTLED_ADMIN_KEY: 'a-key-of-this-test-alone',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const url = await readyUrl(npm);
    const ended = once(npm, 'exit', { signal: AbortSignal.timeout(END_TIMEOUT_MS) });
    npm.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  } finally {
    // Its whole group: what did not get the signal would outlive the test.
    try {
      process.kill(-(npm.pid as number), 'SIGKILL');
    } catch {
      // Nothing is left of it.
    }
    await database.drop();
  }
});

async function readyUrl(npm: ChildProcessByStdio<null, Readable, null>): Promise<string> {
  for await (const chunk of npm.stdout) {
    const url = /settled ready url=(\S+)/.exec(String(chunk))?.[1];
    if (url !== undefined) return url;
  }
  throw new Error('npm start ended before it was ready');
}
