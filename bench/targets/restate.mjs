import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { RestateUser } from '../client/restate-user.mjs';
import { startNode } from './start-node.mjs';

const SCRIPT = fileURLToPath(new URL('../peers/restate/main.mjs', import.meta.url));
const BINARY = `@restatedev/restate-server-${process.platform}-${process.arch}`;

export const restateOne = variant({ name: 'restate-1', label: 'Restate, one partition', partitions: '1' });
export const restateDefault = variant({
  name: 'restate',
  label: 'Restate, default partitions',
  partitions: '',
});

function variant({ name, label, partitions }) {
  return {
    name,
    label,
    optional: true,
    unavailable,
    async start(directory) {
      const program = await startNode({
        name,
        script: SCRIPT,
        env: { PARTITIONS: partitions },
        ready: /^ready url=(\S+) published=(\S+)$/m,
        directory,
      });
      const [, ingress, published] = program.match;
      return { name, label, unavailable, program, user: () => new RestateUser({ ingress, published }) };
    },
  };
}

function unavailable() {
  try {
    createRequire(import.meta.url).resolve(`${BINARY}/bin/restate-server`);
    return null;
  } catch {
    return `the registry has no ${BINARY}`;
  }
}
