import { fileURLToPath } from 'node:url';
import { RestUser } from '../client/rest-user.mjs';
import { startNode } from './start-node.mjs';

const SCRIPT = fileURLToPath(new URL('../peers/dbos/main.mjs', import.meta.url));
const KEYS = { askKey: 'not-looked-at', answerKey: 'not-looked-at' };

export const dbos = {
  name: 'dbos',
  label: 'DBOS (send and recv)',
  optional: true,
  unavailable: () => null,

  async start(directory) {
    const program = await startNode({ name: 'dbos', script: SCRIPT, ready: /^ready url=(\S+)$/m, directory });
    return { ...dbos, program, user: () => new RestUser({ origin: program.match[1], ...KEYS }) };
  },
};
