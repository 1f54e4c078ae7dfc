import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import ts from 'typescript';
import { eventually } from '../support/eventually.js';
import { Hooks } from '../support/webhooks/hooks.js';
import { pathOf, textOf } from './compose.js';

const [, example = ''] = /^```ts\n(.*?)^```$/ms.exec(textOf('docs/webhooks.md')) ?? [];

let hooks: Hooks;
const folder = mkdtempSync(pathOf('node_modules/.receiving-'));
beforeAll(async () => {
  hooks = await Hooks.open();
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await hooks?.close();
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}

test('the receiver on the page verifies what comes, and refuses what is not signed', async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  const { id, secret } = await hooks.create(url);
  const file = join(folder, 'receiver.mjs');
  const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 };
  writeFileSync(file, ts.transpileModule(example, { compilerOptions }).outputText);
  const env = { ...process.env, PORT: String(port), WEBHOOK_SECRET: secret };
  const running = spawn(process.execPath, [file], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  running.stdout.setEncoding('utf8').on('data', (some: string) => {
    printed += some;
  });
  try {
    await eventually(
      async () => (await fetch(url, { method: 'POST', body: '{}' }).catch(() => undefined))?.status === 401,
    );
    await hooks.settle();
    await eventually(async () => (await hooks.deliveries(id, '?status=delivered')).length === 1);
    expect((await hooks.call('POST', `/v1/webhooks/${id}/test`)).ok).toBe(true);
    await eventually(async () => (await hooks.deliveries(id, '?status=delivered')).length === 2);
    const [answered, tested] = ['user:ada answered: Yes', 'nothing was settled'];
    await eventually(() => printed === `question.answered: ${answered}\nwebhook.test: ${tested}\n`);
    expect((await hooks.deliveries(id))[0]?.attempts.at(-1)?.status).toBe(204);
  } finally {
    running.kill();
  }
});
