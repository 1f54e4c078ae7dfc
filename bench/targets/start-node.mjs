import { startProgram } from '../processes/spawned.mjs';
import { subdirectory, temporaryDirectory } from '../processes/temporary.mjs';

/**
 * Starts a Node program with a data directory of its own and returns what every target has: `pid` of the Node
 * process (the root of all its processes), `match` of the ready line, `readyAfterMs`, `stop`. The caller gives `directory`
 * to start again over the data that is there.
 */
export async function startNode({ name, script, env, ready, cwd, directory }) {
  const data = subdirectory(directory ?? temporaryDirectory(name), 'd');
  const program = await startProgram({
    name,
    command: process.execPath,
    args: [script],
    cwd,
    env: { PORT: '0', DATA_DIR: data, ...env },
    ready,
  });
  return program;
}
