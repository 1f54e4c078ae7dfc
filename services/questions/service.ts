import { usesKafka } from '#bus';
import { within } from '#platform';
import type { Service, ServiceParts } from '#service';
import { QuestionsModule } from './questions.module.js';

const STOP_MS = 2_000;

/** The REST facade, and with Kafka the relay that publishes what it appends. */
export async function questionsService(parts: ServiceParts): Promise<Service> {
  await startRelay(parts);
  return { module: QuestionsModule.over(parts) };
}

async function startRelay({ settings, log, connection, logger, metrics, readiness, shutdown }: ServiceParts) {
  if (!usesKafka(settings)) return;
  // Loaded only where it is needed.
  const { kafkaClient } = await import('#kafka');
  const { Relay } = await import('./relay/relay.js');
  const kafka = kafkaClient(settings, logger);
  const relay = new Relay({ log, connection, kafka, settings, logger, metrics });
  readiness.add('relay', () => relay.health());
  shutdown.add(() => within(STOP_MS, relay.stop()));
  relay.start();
}
