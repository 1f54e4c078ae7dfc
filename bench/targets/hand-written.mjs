import { fileURLToPath } from 'node:url';
import { RestUser } from '../client/rest-user.mjs';
import { startNode } from './start-node.mjs';

const SCRIPT = fileURLToPath(new URL('../peers/hand-written/main.mjs', import.meta.url));
const KEYS = { askKey: 'hand-written-ask-key', answerKey: 'hand-written-answer-key' };

export const handWritten = {
  name: 'hand-written',
  label: 'hand-written (Fastify + pg)',
  unavailable: () => null,

  async start(directory) {
    const program = await startNode({
      name: 'hand-written',
      script: SCRIPT,
      env: { ASK_KEY: KEYS.askKey, ANSWER_KEY: KEYS.answerKey },
      ready: /^ready url=(\S+)$/m,
      directory,
    });
    return { ...handWritten, program, user: () => new RestUser({ origin: program.match[1], ...KEYS }) };
  },
};
