import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Kafka, type KafkaMessage, logLevel } from 'kafkajs';
import { eventually } from './eventually.js';

/** A record that should not be there has this long to show. */
const SURPLUS_MS = 500;

export interface TopicRead {
  readonly brokers: readonly string[];
  readonly topic: string;
  /** How many records there should be. */
  readonly count: number;
  readonly withinMs?: number;
}

/** Everything that is committed in a topic, from its beginning, in the order of each partition. */
export async function readTopic({ brokers, topic, count, withinMs }: TopicRead): Promise<KafkaMessage[]> {
  const kafka = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING });
  const consumer = kafka.consumer({ groupId: randomUUID(), maxWaitTimeInMs: 100, readUncommitted: false });
  const records: KafkaMessage[] = [];
  try {
    await consumer.connect();
    const isThere = () => consumer.subscribe({ topics: [topic], fromBeginning: true }).then(() => true);
    await eventually(() => isThere().catch(() => false), withinMs);
    await consumer.run({
      autoCommit: false,
      eachMessage: async ({ message }) => {
        records.push(message);
      },
    });
    await eventually(() => records.length >= count, withinMs);
    await pause(SURPLUS_MS);
    return records;
  } catch (error) {
    throw new Error(`${topic}: ${records.length} of ${count} records`, { cause: error });
  } finally {
    await consumer.disconnect();
  }
}
