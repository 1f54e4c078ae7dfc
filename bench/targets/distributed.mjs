import { join } from 'node:path';
import { missing } from '../../tools/kafka/artifacts.mjs';
import { startKafka } from '../../tools/kafka/broker.mjs';
import { startPostgres } from '../database/postgres.mjs';
import { temporaryDirectory } from '../processes/temporary.mjs';
import { ADMIN_KEY, REPOSITORY, settled } from './settled.mjs';
import { startNode } from './start-node.mjs';

/** Why the distributed mode cannot be measured here, or null. */
export async function whyNotDistributed() {
  return settled.unavailable() ?? (await missing()) ?? null;
}

/** A PostgreSQL, and a Kafka where that is wanted, for processes of the services. */
export class Distributed {
  #stops = [];

  static async start({ kafka }) {
    const distributed = new Distributed();
    try {
      await distributed.#start(kafka);
      return distributed;
    } catch (error) {
      await distributed.stop();
      throw error;
    }
  }

  async #start(withKafka) {
    const { host, user, database, stop } = await startPostgres(temporaryDirectory('distributed'));
    this.#stops.push(stop);
    this.connection = { host, user, database };
    this.databaseUrl = `postgresql://${user}@localhost/${database}?host=${encodeURIComponent(host)}`;
    if (!withKafka) return;
    const kafka = await startKafka();
    this.#stops.push(() => kafka.stop());
    this.brokers = kafka.brokers;
  }

  /** One more process of questions. With `kafka` it publishes, or stands by to. */
  questions({ kafka }) {
    return this.service('questions', kafka ? { KAFKA_BROKERS: this.brokers.join() } : {});
  }

  /** One more process of a service; resolves with its address, its pid and how to stop it. */
  service(name, environment = {}) {
    return this.program({
      name,
      script: join(REPOSITORY, `dist/services/${name}/main.js`),
      cwd: REPOSITORY,
      env: { SETTLED_ADMIN_KEY: ADMIN_KEY, NODE_ENV: 'production', ...environment },
      ready: new RegExp(`^settled ${name} ready url=(\\S+)$`, 'm'),
    });
  }

  /** Any program that works on the same PostgreSQL. */
  async program({ env, ...rest }) {
    const { match, pid, stop } = await startNode({
      ...rest,
      env: { DATABASE_URL: this.databaseUrl, ...env },
    });
    this.#stops.push(stop);
    return { origin: match[1], pid, stop };
  }

  async stop() {
    for (const stop of this.#stops.reverse()) await stop();
  }
}
