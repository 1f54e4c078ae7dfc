import { LogTransport, usesKafka } from '#bus';
import type { LoggedEvent } from '#eventlog';
import type { ServiceParts } from './service.js';

export interface ConsumerOptions {
  readonly group: string;
  /** Where a group that is new begins. */
  readonly from: 'start' | 'end';
  /** JSON text of the envelope of a question at one of its events. */
  readonly project: (event: LoggedEvent) => string;
}

/** A member of a consumer group, over Kafka when that is configured and else over the log. */
export async function consumerOf({ settings, log, logger }: ServiceParts, options: ConsumerOptions) {
  if (!usesKafka(settings)) return new LogTransport({ log, ...options });
  // Loaded only where it is needed.
  const { ensureTopics, KafkaTransport, kafkaClient } = await import('#kafka');
  const kafka = kafkaClient(settings, logger);
  return new KafkaTransport({
    ...options,
    kafka,
    groupId: `${settings.KAFKA_CLIENT_ID}.${options.group}`,
    topic: settings.KAFKA_QUESTIONS_TOPIC,
    prepare: () => ensureTopics(kafka, settings),
    logger,
  });
}
