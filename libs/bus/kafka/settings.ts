import { z } from 'zod';
import { DEFAULT_PARTITIONS, OUTCOMES_TOPIC, QUESTIONS_TOPIC, RELAY_TOPIC } from '#contracts';
import { integerSetting, type Settings } from '#platform';

const BROKERS = /^[^\s,:]+:\d{1,5}(\s*,\s*[^\s,:]+:\d{1,5})*$/;
const BROKERS_WANTED = 'must be host:port, or several with commas between';
const TOPIC = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,240}$/;

const topicSetting = (name: string) =>
  z.string().regex(TOPIC, 'must be 1 to 240 letters, digits, dots, dashes or underscores').default(name);
const fileSetting = () => z.string().optional();

/** How to reach Kafka and what things are called there; every service that talks to it has these settings. */
export const KAFKA_SETTINGS = {
  KAFKA_BROKERS: {
    schema: z
      .string()
      .regex(BROKERS, BROKERS_WANTED)
      .transform((text) => text.split(',').map((broker) => broker.trim()))
      .refine((brokers) => brokers.every((broker) => Number(broker.split(':')[1]) <= 65_535), BROKERS_WANTED)
      .optional(),
    about: 'Publish to and consume from this Kafka (`host:port,…`). Unset: consumers tail the log directly',
  },
  KAFKA_CLIENT_ID: {
    schema: z.string().min(1).default('settled'),
    about: 'What this client is called in the logs and quotas of the brokers. Default `settled`',
  },
  KAFKA_TLS: {
    schema: z
      .enum(['true', 'false'], { error: 'must be true or false' })
      .default('false')
      .transform((text) => text === 'true'),
    about: 'Speak TLS to the brokers: `true` or `false`. Default `false`',
  },
  KAFKA_TLS_CA_FILE: {
    schema: fileSetting(),
    about: 'PEM file of the authorities to trust instead of the usual',
  },
  KAFKA_TLS_CERT_FILE: { schema: fileSetting(), about: 'PEM file of the certificate to show the brokers' },
  KAFKA_TLS_KEY_FILE: { schema: fileSetting(), about: 'PEM file of its private key' },
  KAFKA_SASL_MECHANISM: {
    schema: z
      .enum(['plain', 'scram-sha-256', 'scram-sha-512'], {
        error: 'must be plain, scram-sha-256 or scram-sha-512',
      })
      .optional(),
    about: 'How to log in to the brokers: `plain`, `scram-sha-256` or `scram-sha-512`. Unset: not at all',
  },
  KAFKA_SASL_USERNAME: { schema: z.string().optional(), about: 'Who logs in' },
  KAFKA_SASL_PASSWORD: { schema: z.string().optional(), about: 'With what password' },
  KAFKA_QUESTIONS_TOPIC: {
    schema: topicSetting(QUESTIONS_TOPIC),
    about: `Topic of all events. Default \`${QUESTIONS_TOPIC}\``,
  },
  KAFKA_OUTCOMES_TOPIC: {
    schema: topicSetting(OUTCOMES_TOPIC),
    about: `Topic of the outcomes, compacted. Default \`${OUTCOMES_TOPIC}\``,
  },
  KAFKA_RELAY_TOPIC: {
    schema: topicSetting(RELAY_TOPIC),
    about: `Topic of the relay's own checkpoint. Default \`${RELAY_TOPIC}\``,
  },
  KAFKA_PARTITIONS: {
    schema: integerSetting(1, 10_000, DEFAULT_PARTITIONS),
    about: `Partitions of the first two topics, when they are made. Default \`${DEFAULT_PARTITIONS}\``,
  },
  KAFKA_REPLICATION: {
    schema: integerSetting(1, 100, 0),
    about: "Copies of each partition, when topics are made. Unset: the brokers' default",
  },
} as const;

export type KafkaSettings = Settings<typeof KAFKA_SETTINGS>;

/** The settings of who uses Kafka. */
export type KafkaConfig = KafkaSettings & { readonly KAFKA_BROKERS: readonly string[] };

export function usesKafka(settings: KafkaSettings): settings is KafkaConfig {
  return settings.KAFKA_BROKERS !== undefined;
}
