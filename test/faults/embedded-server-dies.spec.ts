import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { SettledProcess } from '../support/settled-process.js';

let dataDir: string;
let settled: SettledProcess;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'settled-dies-'));
  settled = await SettledProcess.start({ DATA_DIR: dataDir });
});

afterAll(async () => {
  await settled.stop();
  await rm(dataDir, { recursive: true, force: true });
});

async function ask(key: string): Promise<Response> {
  const body = {
    prompt: 'Still there?',
    options: [{ id: 'yes', label: 'Yes' }],
    scope: { kind: 'direct', user: 'user:ada' },
  };
  return await settled.call('POST', '/v1/questions', { key, body });
}

describe('when the embedded PostgreSQL is killed', () => {
  it('is started again, and nothing acknowledged is lost', async () => {
    const { key } = await settled.key('agent:deployer', ['ask']);
    const before = (await (await ask(key)).json()) as { id: string };
    const [pid] = (await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n');
    process.kill(Number(pid), 'SIGKILL');
    await eventually(async () => (await settled.call('GET', '/readyz')).status === 503, 10_000);
    await eventually(async () => (await settled.call('GET', '/readyz')).status === 200, 20_000);
    const fetched = await settled.call('GET', `/v1/questions/${before.id}`, { key });
    expect(await fetched.json()).toMatchObject({ id: before.id, state: 'pending' });
    expect((await ask(key)).status).toBe(201);
  });
});
