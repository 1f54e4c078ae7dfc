import { fileURLToPath } from 'node:url';
import { RestUser } from '../client/rest-user.mjs';
import { startNode } from './start-node.mjs';

const SCRIPT = fileURLToPath(new URL('../peers/ceiling/main.mjs', import.meta.url));
const KEYS = { askKey: 'not-looked-at', answerKey: 'not-looked-at' };

export const ceiling = {
  name: 'ceiling',
  label: 'ceiling (bare Fastify)',
  unavailable: () => null,

  async start(directory) {
    const program = await startNode({
      name: 'ceiling',
      script: SCRIPT,
      ready: /^ready url=(\S+)$/m,
      directory,
    });
    return { ...ceiling, program, user: () => new RestUser({ origin: program.match[1], ...KEYS }) };
  },
};
