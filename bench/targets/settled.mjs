import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { RestUser } from '../client/rest-user.mjs';
import { startNode } from './start-node.mjs';

export const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url));
const SCRIPT = fileURLToPath(new URL('../../dist/services/settled/main.js', import.meta.url));
const KEY_TIMEOUT_MS = 10_000;
export const ADMIN_KEY = `bench-${randomBytes(24).toString('hex')}`;

export const settled = {
  name: 'settled',
  label: 'Settled',
  unavailable: () => (existsSync(SCRIPT) ? null : 'it is not built: npm run build'),

  async start(directory) {
    const program = await startNode({
      name: 'settled',
      script: SCRIPT,
      cwd: REPOSITORY,
      env: { SETTLED_ADMIN_KEY: ADMIN_KEY, NODE_ENV: 'production' },
      ready: /^settled ready url=(\S+)$/m,
      directory,
    });
    const origin = program.match[1];
    try {
      const keys = await makeKeys(origin);
      return { ...settled, program, user: () => new RestUser({ origin, ...keys }) };
    } catch (error) {
      await program.stop();
      throw error;
    }
  },
};

/** For who asks and who answers. */
export async function makeKeys(origin) {
  return {
    askKey: await makeKey(origin, { subject: 'agent:bench', scopes: ['ask'] }),
    answerKey: await makeKey(origin, { subject: 'user:ada', scopes: ['answer'] }),
  };
}

export async function makeKey(origin, principal) {
  const response = await fetch(`${origin}/v1/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(principal),
    signal: AbortSignal.timeout(KEY_TIMEOUT_MS),
  });
  if (response.status !== 201) throw new Error(`no key for ${principal.subject}: ${await response.text()}`);
  return (await response.json()).key;
}
