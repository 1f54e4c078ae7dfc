import { join } from 'node:path';
import { missing } from '../../tools/kafka/artifacts.mjs';
import { startKafka } from '../../tools/kafka/broker.mjs';
import { startPostgres } from '../database/postgres.mjs';
import { temporaryDirectory } from '../processes/temporary.mjs';
import { ADMIN_KEY, REPOSITORY, settled } from './settled.mjs';
import { startNode } from './start-node.mjs';

const SCRIPT = join(REPOSITORY, 'dist/services/questions/main.js');

/** Why the distributed mode cannot be measured here, or null. */
export async function whyNotDistributed() {
  return settled.unavailable() ?? (await missing()) ?? null;
}

/** A PostgreSQL and a Kafka for processes of the questions service. */
export class Distributed {
  #stops = [];

  static async start() {
    const distributed = new Distributed();
    try {
      await distributed.#start();
      return distributed;
    } catch (error) {
      await distributed.stop();
      throw error;
    }
  }

  async #start() {
    const { host, user, database, stop } = await startPostgres(temporaryDirectory('distributed'));
    this.#stops.push(stop);
    this.databaseUrl = `postgresql://${user}@localhost/${database}?host=${encodeURIComponent(host)}`;
    const kafka = await startKafka();
    this.#stops.push(() => kafka.stop());
    this.brokers = kafka.brokers;
  }

  /** One more process; resolves with its address. With `kafka` it publishes, or stands by to. */
  async questions({ kafka }) {
    const program = await startNode({
      name: 'questions',
      script: SCRIPT,
      cwd: REPOSITORY,
      env: {
        DATABASE_URL: this.databaseUrl,
        SETTLED_ADMIN_KEY: ADMIN_KEY,
        NODE_ENV: 'production',
        ...(kafka && { KAFKA_BROKERS: this.brokers.join() }),
      },
      ready: /^settled questions ready url=(\S+)$/m,
    });
    this.#stops.push(program.stop);
    return { origin: program.match[1], stop: program.stop };
  }

  async stop() {
    for (const stop of this.#stops.reverse()) await stop();
  }
}
