import { readFileSync } from 'node:fs';
import { type KafkaConfig as ClientConfig, Kafka, logLevel, type SASLOptions } from 'kafkajs';
import { deadLetterTopicOf } from '#contracts';
import type { Logger } from '#platform';
import type { KafkaConfig } from './settings.js';

const CONNECT_TIMEOUT_MS = 3_000;
const REQUEST_TIMEOUT_MS = 10_000;

/**
 * A client of the configured brokers. Throws when settings that belong together do not fit, or a file cannot be read. Its own retries are few: whoever uses it starts afresh after an error, since after
 * an uncertain outcome nothing that a producer or consumer remembers can be trusted.
 */
export function kafkaClient(config: KafkaConfig, logger: Logger): Kafka {
  refuseSharedTopics(config);
  return new Kafka({
    brokers: [...config.KAFKA_BROKERS],
    clientId: config.KAFKA_CLIENT_ID,
    ssl: tlsOf(config),
    ...(config.KAFKA_SASL_MECHANISM && { sasl: saslOf(config) }),
    connectionTimeout: CONNECT_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    enforceRequestTimeout: true,
    retry: { initialRetryTime: 100, maxRetryTime: 1_000, retries: 5 },
    logLevel: logLevel.INFO,
    // What goes wrong is told by whoever meets it; the client's own lines are for who looks for the cause.
    logCreator: () => {
      return ({ namespace, log: { message, error, ...details } }) =>
        logger.debug({ kafka: namespace, error, broker: details.broker }, message);
    },
  });
}

/** In one topic the same event would be there twice. */
function refuseSharedTopics(config: KafkaConfig): void {
  const seen = new Set([deadLetterTopicOf(config.KAFKA_QUESTIONS_TOPIC)]);
  for (const name of ['KAFKA_QUESTIONS_TOPIC', 'KAFKA_OUTCOMES_TOPIC', 'KAFKA_RELAY_TOPIC'] as const) {
    if (seen.has(config[name]))
      throw new Error(`${name}: ${config[name]} is another of Settled's topics already`);
    seen.add(config[name]);
  }
}

function tlsOf(config: KafkaConfig): NonNullable<ClientConfig['ssl']> {
  if (!config.KAFKA_TLS) return false;
  const ca = textOf(config, 'KAFKA_TLS_CA_FILE');
  return {
    ...(ca !== undefined && { ca: [ca] }),
    cert: textOf(config, 'KAFKA_TLS_CERT_FILE'),
    key: textOf(config, 'KAFKA_TLS_KEY_FILE'),
  };
}

type FileSetting = 'KAFKA_TLS_CA_FILE' | 'KAFKA_TLS_CERT_FILE' | 'KAFKA_TLS_KEY_FILE';

function textOf(config: KafkaConfig, name: FileSetting): string | undefined {
  const file = config[name];
  try {
    return file === undefined ? undefined : readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`${name}: cannot be read: ${(error as Error).message}`);
  }
}

function saslOf(config: KafkaConfig): SASLOptions {
  const {
    KAFKA_SASL_MECHANISM: mechanism,
    KAFKA_SASL_USERNAME: username,
    KAFKA_SASL_PASSWORD: password,
  } = config;
  if (username === undefined || password === undefined)
    throw new Error(`KAFKA_SASL_MECHANISM: ${mechanism} needs KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD`);
  return { mechanism, username, password } as SASLOptions;
}
