import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
// From the files themselves: the whole run waits for this, and for no more than it needs.
import { missing } from '../../tools/kafka/artifacts.mjs';
import { startKafka } from '../../tools/kafka/broker.mjs';

/** Confluent's image of Apache Kafka 4: the one that the module of Testcontainers is made for. */
const IMAGE = 'confluentinc/cp-kafka:8.0.0';
const PORT = 9093;

/** Where workers ask for the brokers; unset when there are none. */
export const KAFKA_VARIABLE = 'SETTLED_TEST_KAFKA';
/** Why there are none. */
export const NO_KAFKA_VARIABLE = 'SETTLED_TEST_NO_KAFKA';

interface Source {
  readonly what: string;
  start(): Promise<{ readonly brokers: readonly string[]; stop(): Promise<void> }>;
}

let running: ReturnType<Source['start']> | undefined;
let server: Server | undefined;

/** One Kafka for the whole run, started when the first worker asks for it: given, or a container, or its Maven artifacts. */
export async function offerKafka(): Promise<void> {
  const source = given() ?? (await container()) ?? (await artifacts());
  // What is under test must not find it in its environment.
  delete process.env.KAFKA_BROKERS;
  if (source === undefined) {
    const reason = `no TEST_KAFKA_BROKERS, no Docker engine, and ${await missing()}`;
    if (process.env.CI) throw new Error(`No Kafka for tests: ${reason}`);
    process.env[NO_KAFKA_VARIABLE] = reason;
    process.stderr.write(`Kafka for tests: none, what needs it is skipped: ${reason}\n`);
    return;
  }
  server = createServer(async (_request, response) => {
    try {
      if (running === undefined) process.stderr.write(`Kafka for tests: ${source.what}\n`);
      running ??= source.start();
      response.end(JSON.stringify((await running).brokers));
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  process.env[KAFKA_VARIABLE] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export async function withdrawKafka(): Promise<void> {
  server?.close();
  server?.closeAllConnections();
  const kafka = await running?.catch(() => undefined);
  await kafka?.stop();
}

function given(): Source | undefined {
  const brokers = process.env.TEST_KAFKA_BROKERS || process.env.KAFKA_BROKERS;
  if (!brokers) return undefined;
  return {
    what: `${brokers} (from the environment)`,
    start: async () => ({ brokers: brokers.split(','), stop: async () => {} }),
  };
}

async function container(): Promise<Source | undefined> {
  const { getContainerRuntimeClient } = await import('testcontainers');
  try {
    await getContainerRuntimeClient();
  } catch {
    return undefined;
  }
  return {
    what: `${IMAGE} in a container`,
    start: async () => {
      const { KafkaContainer } = await import('@testcontainers/kafka');
      const started = await new KafkaContainer(IMAGE)
        .withKraft()
        .withEnvironment({
          KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS: '0',
          KAFKA_AUTO_CREATE_TOPICS_ENABLE: 'false',
        })
        .start();
      return {
        brokers: [`${started.getHost()}:${started.getMappedPort(PORT)}`],
        stop: async () => void (await started.stop()),
      };
    },
  };
}

async function artifacts(): Promise<Source | undefined> {
  if ((await missing()) !== undefined) return undefined;
  return { what: 'Apache Kafka from its Maven artifacts', start: () => startKafka() };
}
