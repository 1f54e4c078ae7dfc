import { randomUUID } from 'node:crypto';
import { type Kafka, type Message, Partitioners, type Producer } from 'kafkajs';
import type { KafkaConfig } from '#bus';
import { envelopeAt } from '#domain';
import type { LoggedEvent } from '#eventlog';
import { ensureTopics, recordOf } from '#kafka';
import { within } from '#platform';
import { type Checkpoint, readCheckpoint } from './checkpoint.js';

/** The broker gives up on a transaction whose producer is silent for this long. */
const TRANSACTION_TIMEOUT_MS = 15_000;
/** A broker answers that a transaction is over a little before it is: who begins the next one then is to try again. */
const RETRY = { initialRetryTime: 5, maxRetryTime: 1_000, retries: 12 };
const DISCONNECT_MS = 2_000;
const STREAM_PREFIX = 'question:';
const FIRST_TYPE = 'question.asked';

/**
 * One term of a leader: a producer of its own, from the moment that it has fenced its predecessor to its first error. What
 * a producer remembers after an uncertain outcome is not to be trusted, so there is no second try: another term begins.
 */
export class RelayTerm {
  private constructor(
    private readonly config: KafkaConfig,
    private readonly producer: Producer,
    /** Everything up to there has been published; undefined before there was anything. */
    readonly checkpoint: Checkpoint | undefined,
  ) {}

  /** Fences the predecessor first and reads its checkpoint then, so that nothing can be published in between. */
  static async begin(kafka: Kafka, config: KafkaConfig): Promise<RelayTerm> {
    await ensureTopics(kafka, config);
    const producer = kafka.producer({
      transactionalId: `${config.KAFKA_CLIENT_ID}.${config.KAFKA_RELAY_TOPIC}`,
      idempotent: true,
      maxInFlightRequests: 1,
      transactionTimeout: TRANSACTION_TIMEOUT_MS,
      retry: RETRY,
      allowAutoTopicCreation: false,
      createPartitioner: Partitioners.DefaultPartitioner,
    });
    try {
      await producer.connect();
      const barrier = randomUUID();
      await commit(producer, [
        { topic: config.KAFKA_RELAY_TOPIC, messages: [{ key: 'barrier', value: barrier }] },
      ]);
      return new RelayTerm(config, producer, await readCheckpoint(kafka, config.KAFKA_RELAY_TOPIC, barrier));
    } catch (error) {
      await disconnect(producer);
      throw error;
    }
  }

  /** Publishes events, and that they are, in one transaction. After a rejection the term must be ended. */
  async publish(events: readonly LoggedEvent[]): Promise<void> {
    const { KAFKA_QUESTIONS_TOPIC, KAFKA_OUTCOMES_TOPIC, KAFKA_RELAY_TOPIC } = this.config;
    const questions = events.filter(({ stream }) => stream.startsWith(STREAM_PREFIX));
    const outcomes = questions.filter(({ type }) => type !== FIRST_TYPE);
    const last = events.at(-1) as LoggedEvent;
    const topics = [KAFKA_QUESTIONS_TOPIC, KAFKA_OUTCOMES_TOPIC];
    const checkpoint: Checkpoint = { position: last.position, event: last.id, topics };
    await commit(this.producer, [
      { topic: KAFKA_QUESTIONS_TOPIC, messages: questions.map(message) },
      { topic: KAFKA_OUTCOMES_TOPIC, messages: outcomes.map(message) },
      { topic: KAFKA_RELAY_TOPIC, messages: [{ key: 'checkpoint', value: JSON.stringify(checkpoint) }] },
    ]);
  }

  async end(): Promise<void> {
    await disconnect(this.producer);
  }
}

function message(event: LoggedEvent): Message {
  return recordOf({
    ...event,
    question: event.stream.slice(STREAM_PREFIX.length),
    envelope: envelopeAt(event),
  });
}

interface TopicMessages {
  readonly topic: string;
  readonly messages: Message[];
}

async function commit(producer: Producer, topics: readonly TopicMessages[]): Promise<void> {
  const transaction = await producer.transaction();
  await transaction.sendBatch({
    acks: -1,
    topicMessages: topics.filter(({ messages }) => messages.length > 0),
  });
  await transaction.commit();
}

/** Without ending a transaction that is open: the next term's fence aborts it. */
async function disconnect(producer: Producer): Promise<void> {
  await within(DISCONNECT_MS, producer.disconnect()).catch(() => {});
}
