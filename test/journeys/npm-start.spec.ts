import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { createTestDatabase } from '../support/database.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

test('npm start hands a SIGTERM on, and nothing is left running', async () => {
  const database = await createTestDatabase();
  const npm = spawn('npm', ['start'], {
    cwd: ROOT,
    env: {
      ...process.env,
      PORT: '0',
      DATABASE_URL: database.url,
      SETTLED_ADMIN_KEY: 'a-key-of-this-test-alone',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let url: string | undefined;
  for await (const chunk of npm.stdout) {
    url = /settled ready url=(\S+)/.exec(String(chunk))?.[1];
    if (url !== undefined) break;
  }
  const exit = once(npm, 'exit');
  npm.kill('SIGTERM');
  expect(await exit).toEqual([0, null]);
  await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  await database.drop();
});
