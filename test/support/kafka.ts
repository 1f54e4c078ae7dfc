import { randomUUID } from 'node:crypto';
import { beforeAll, describe } from '@jest/globals';
import { KAFKA_SETTINGS, type KafkaConfig } from '#bus';
import { readSettings } from '#platform';
import { startKafka } from '../../tools/kafka/broker.mjs';
import { KAFKA_VARIABLE, NO_KAFKA_VARIABLE } from './kafka-server.js';

export interface TestKafka {
  readonly brokers: readonly string[];
}

/** Tests against the Kafka of the run, which others use as well: topics and groups need names of their own. */
export function describeWithKafka(name: string, body: (kafka: () => TestKafka) => void): void {
  if (process.env[NO_KAFKA_VARIABLE] !== undefined) {
    describe.skip(name, () => body(() => ({ brokers: [] })));
    return;
  }
  describe(name, () => {
    let kafka: TestKafka | undefined;
    beforeAll(async () => {
      kafka = { brokers: await brokersOfTheRun() };
    });
    body(() => {
      if (kafka === undefined) throw new Error('Kafka is there from beforeAll on');
      return kafka;
    });
  });
}

async function brokersOfTheRun(): Promise<readonly string[]> {
  const address = process.env[KAFKA_VARIABLE];
  if (address === undefined) throw new Error('There is no Kafka for tests');
  const response = await fetch(address);
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as string[];
}

/** Settings with topics and groups of the caller's own. */
export function kafkaConfig({ brokers }: TestKafka): KafkaConfig {
  return readSettings(KAFKA_SETTINGS, kafkaEnvironment({ brokers })) as KafkaConfig;
}

/** The same for a process. */
export function kafkaEnvironment({ brokers }: TestKafka) {
  const own = randomUUID();
  return {
    KAFKA_BROKERS: brokers.join(),
    KAFKA_CLIENT_ID: own,
    KAFKA_QUESTIONS_TOPIC: `questions-${own}`,
    KAFKA_OUTCOMES_TOPIC: `outcomes-${own}`,
    KAFKA_RELAY_TOPIC: `relay-${own}`,
    KAFKA_PARTITIONS: '3',
  };
}

/** A broker that a test may do anything to. */
export interface OwnBroker extends TestKafka {
  /** As a crash does; its data stays. */
  kill(): Promise<void>;
  /** The same broker again, after `kill`. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export async function ownBroker(): Promise<OwnBroker> {
  const first = await startKafka();
  let now = first;
  return {
    brokers: first.brokers,
    kill: () => now.kill(),
    restart: async () => {
      now = await startKafka({ port: first.port, dataDir: first.dataDir });
    },
    stop: async () => {
      await now.stop();
      await first.stop();
    },
  };
}
