import { type Kafka, type KafkaMessage, Partitioners, type Producer } from 'kafkajs';
import { type DeadLetterHeaders, deadLetterTopicOf } from '#contracts';

export interface RawRecord {
  readonly topic: string;
  readonly partition: number;
  readonly offset: string;
  readonly message: KafkaMessage;
}

/** Writes records that a group gave up on, as they were, to the dead-letter topic of theirs. */
export class DeadLetters {
  #producer: Promise<Producer> | undefined;

  constructor(
    private readonly kafka: Kafka,
    private readonly group: string,
  ) {}

  /** Resolves when all replicas in sync have it. */
  async write(record: RawRecord, { attempts, error }: { attempts: number; error: string }): Promise<void> {
    const { topic, partition, offset, message } = record;
    const why: DeadLetterHeaders = {
      'settled-dlq-group': this.group,
      'settled-dlq-error': error,
      'settled-dlq-attempts': String(attempts),
      'settled-dlq-topic': topic,
      'settled-dlq-partition': String(partition),
      'settled-dlq-offset': offset,
    };
    const letter = {
      key: message.key ?? null,
      value: message.value,
      headers: { ...message.headers, ...why },
    };
    this.#producer ??= this.#connect();
    try {
      const producer = await this.#producer;
      await producer.send({ topic: deadLetterTopicOf(topic), acks: -1, messages: [letter] });
    } catch (failure) {
      // What it remembers after an error is not to be trusted.
      await this.close();
      throw failure;
    }
  }

  async close(): Promise<void> {
    const producer = this.#producer;
    this.#producer = undefined;
    await producer?.then((connected) => connected.disconnect()).catch(() => {});
  }

  async #connect(): Promise<Producer> {
    const producer = this.kafka.producer({
      idempotent: true,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
      createPartitioner: Partitioners.DefaultPartitioner,
    });
    await producer.connect();
    return producer;
  }
}
