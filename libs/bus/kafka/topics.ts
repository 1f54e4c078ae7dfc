import kafkajs, { type Admin, type ITopicConfig, type Kafka } from 'kafkajs';
import { deadLetterTopicOf } from '#contracts';
import type { KafkaConfig } from './settings.js';

/** Small segments, so that the relay's checkpoint, of which one record counts, is compacted soon and read fast. */
const RELAY_SEGMENT_BYTES = 8 * 1024 * 1024;
const RELAY_SEGMENT_MS = 60 * 60 * 1_000;

type TopicSettings = Pick<
  KafkaConfig,
  | 'KAFKA_QUESTIONS_TOPIC'
  | 'KAFKA_OUTCOMES_TOPIC'
  | 'KAFKA_RELAY_TOPIC'
  | 'KAFKA_PARTITIONS'
  | 'KAFKA_REPLICATION'
>;

/** Makes the topics that are missing; those that are there stay as they are. Safe when many processes do it at once. */
export async function ensureTopics(kafka: Kafka, config: TopicSettings): Promise<void> {
  const admin = kafka.admin();
  await admin.connect();
  try {
    const existing = new Set(await admin.listTopics());
    for (const topic of topicsOf(config)) if (!existing.has(topic.topic)) await create(admin, topic);
  } finally {
    await admin.disconnect();
  }
}

function topicsOf(config: TopicSettings): ITopicConfig[] {
  const replicationFactor = config.KAFKA_REPLICATION === 0 ? -1 : config.KAFKA_REPLICATION;
  const topic = (
    name: string,
    numPartitions: number,
    settings: Record<string, string | number>,
  ): ITopicConfig => ({
    topic: name,
    numPartitions,
    replicationFactor,
    configEntries: Object.entries(settings).map(([key, value]) => ({ name: key, value: String(value) })),
  });
  const partitions = config.KAFKA_PARTITIONS;
  return [
    topic(config.KAFKA_QUESTIONS_TOPIC, partitions, { 'cleanup.policy': 'delete' }),
    topic(config.KAFKA_OUTCOMES_TOPIC, partitions, { 'cleanup.policy': 'compact' }),
    topic(deadLetterTopicOf(config.KAFKA_QUESTIONS_TOPIC), 1, {
      'cleanup.policy': 'delete',
      'retention.ms': -1,
    }),
    topic(config.KAFKA_RELAY_TOPIC, 1, {
      'cleanup.policy': 'compact',
      'segment.bytes': RELAY_SEGMENT_BYTES,
      'segment.ms': RELAY_SEGMENT_MS,
      'min.cleanable.dirty.ratio': 0.1,
    }),
  ];
}

async function create(admin: Admin, topic: ITopicConfig): Promise<void> {
  try {
    await admin.createTopics({ topics: [topic], waitForLeaders: true });
  } catch (error) {
    if (!isThere(error)) throw error;
  }
}

/** Another process was faster; or it is made, and not every broker has heard of it: who uses it tries until they have. */
const MADE: ReadonlySet<string> = new Set(['TOPIC_ALREADY_EXISTS', 'UNKNOWN_TOPIC_OR_PARTITION']);

function isThere(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.every(isThere);
  const errors: unknown = (error as { errors?: unknown }).errors;
  if (Array.isArray(errors)) return errors.every(isThere);
  return error instanceof kafkajs.KafkaJSProtocolError && MADE.has(error.type);
}
