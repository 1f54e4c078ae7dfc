import { randomUUID } from 'node:crypto';
import { type INestMicroservice, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  type Admin,
  type Consumer,
  Kafka,
  type KafkaMessage,
  logLevel,
  Partitioners,
  type Producer,
} from 'kafkajs';
import { pino } from 'pino';
import { deadLetterTopicOf } from '#contracts';
import type { LoggedEvent } from '#eventlog';
import { ensureTopics, KafkaTransport, type KafkaTransportOptions, recordOf } from '#kafka';
import { BreakableNetwork } from '../support/breakable-network.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { openLog, type TestLog } from '../support/log.js';
import { answerQuestion, askQuestion, idOf, projectEnvelope } from '../support/questions.js';
import type { BusHarness, Member, MemberSettings, Published } from './bus-harness.js';

const PARTITIONS = 3;
/** What surely fits in a request. */
const REQUEST_RECORDS = 500;
/** The least that brokers allow by default. */
const SESSION_TIMEOUT_MS = 6_000;

type Options = MemberSettings & Partial<Pick<KafkaTransportOptions, 'from'>>;

/** Settings of a client without retries of its own that would hide what a test does to it. */
export function clientOf(brokers: readonly string[], network = new BreakableNetwork()): Kafka {
  const { socketFactory } = network;
  return new Kafka({
    brokers: [...brokers],
    socketFactory,
    logLevel: logLevel.NOTHING,
    retry: { retries: 8 },
  });
}

/** The bus over Kafka: members are Nest microservices, each behind a network of its own. */
export class KafkaHarness implements BusHarness {
  readonly topic = `questions-${randomUUID()}`;
  readonly #letters: KafkaMessage[] = [];
  readonly #offsets = new Map<number, { readonly partition: number; readonly offset: number }>();
  readonly #kafka: Kafka;
  readonly #admin: Admin;
  readonly #producer: Producer;
  readonly #lettersReader: Consumer;

  private constructor(
    readonly brokers: readonly string[],
    private readonly database: TestDatabase,
    private readonly own: TestLog,
  ) {
    this.#kafka = clientOf(brokers);
    this.#admin = this.#kafka.admin();
    const createPartitioner = Partitioners.DefaultPartitioner;
    this.#producer = this.#kafka.producer({ idempotent: true, maxInFlightRequests: 1, createPartitioner });
    this.#lettersReader = this.#kafka.consumer({ groupId: randomUUID(), maxWaitTimeInMs: 100 });
  }

  static async start(brokers: readonly string[]): Promise<KafkaHarness> {
    const database = await createTestDatabase();
    const harness = new KafkaHarness(brokers, database, await openLog(database.connection));
    await harness.#start();
    return harness;
  }

  async #start(): Promise<void> {
    await ensureTopics(this.#kafka, {
      KAFKA_QUESTIONS_TOPIC: this.topic,
      KAFKA_OUTCOMES_TOPIC: `outcomes-${this.topic}`,
      KAFKA_RELAY_TOPIC: `relay-${this.topic}`,
      KAFKA_PARTITIONS: PARTITIONS,
      KAFKA_REPLICATION: 0,
    });
    await this.#admin.connect();
    await this.#producer.connect();
    await this.#lettersReader.connect();
    await this.#lettersReader.subscribe({ topic: deadLetterTopicOf(this.topic), fromBeginning: true });
    await this.#lettersReader.run({
      eachMessage: async ({ message }) => {
        this.#letters.push(message);
      },
    });
  }

  async stop(): Promise<void> {
    await this.#lettersReader.disconnect();
    await this.#producer.disconnect();
    await this.#admin.disconnect();
    await this.own.stop();
    await this.database.drop();
  }

  async ask(): Promise<Published> {
    return await this.#publish(await askQuestion(this.own.log));
  }

  async answer(question: string): Promise<Published> {
    return await this.#publish(await answerQuestion(this.own.log, question));
  }

  /** Puts a record in the topic that nobody of ours would. */
  async put(record: { key: string; value: string; headers: Record<string, string> }): Promise<void> {
    await this.#producer.send({ topic: this.topic, messages: [record] });
  }

  async join(settings: Options): Promise<KafkaMember> {
    const member = await KafkaMember.start(this, settings);
    // Whoever joins later makes the group share its partitions anew.
    await eventually(() => member.joined);
    return member;
  }

  /** Asks many at once; returns how many events there are then. */
  async askMany(count: number): Promise<number> {
    const asked = await askQuestion(this.own.log);
    const envelope = projectEnvelope(asked);
    const messages = Array.from({ length: count }, () => {
      const [id, question] = [randomUUID(), randomUUID()];
      return recordOf({ ...asked, id, question, envelope });
    });
    for (let first = 0; first < count; first += REQUEST_RECORDS) {
      const some = messages.slice(first, first + REQUEST_RECORDS);
      await this.#producer.send({ topic: this.topic, acks: -1, messages: some });
    }
    return count;
  }

  /** Whether the group has recorded a place in every partition. */
  async isBegun(group: string): Promise<boolean> {
    const [committed] = await this.#admin.fetchOffsets({ groupId: group, topics: [this.topic] });
    return committed?.partitions.every(({ offset }) => Number(offset) >= 0) ?? false;
  }

  async isRecorded(group: string, { position }: Published): Promise<boolean> {
    const at = this.#offsets.get(position);
    const [committed] = await this.#admin.fetchOffsets({ groupId: group, topics: [this.topic] });
    const partition = committed?.partitions.find((one) => one.partition === at?.partition);
    return at !== undefined && Number(partition?.offset ?? -1) > at.offset;
  }

  async deadLetters(group: string): Promise<{ position: number; attempts: number; error: string }[]> {
    const letters = this.#letters.map(
      ({ headers }) =>
        (name: string) =>
          String(headers?.[name]),
    );
    return letters
      .filter((header) => header('settled-dlq-group') === group)
      .map((header) => ({
        position: Number(header('settled-position')),
        attempts: Number(header('settled-dlq-attempts')),
        error: header('settled-dlq-error'),
      }));
  }

  /** All dead letters, as they are in their topic. */
  get letters(): readonly KafkaMessage[] {
    return this.#letters;
  }

  outage(): Error {
    return Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  }

  async #publish(event: LoggedEvent): Promise<Published> {
    const record = recordOf({ ...event, question: idOf(event), envelope: projectEnvelope(event) });
    const [written] = await this.#producer.send({ topic: this.topic, acks: -1, messages: [record] });
    const { partition = -1, baseOffset } = written ?? {};
    this.#offsets.set(event.position, { partition, offset: Number(baseOffset) });
    return { position: event.position, id: event.id, question: idOf(event) };
  }
}

export class KafkaMember implements Member {
  #ended: Promise<void> | undefined;

  private constructor(
    readonly network: BreakableNetwork,
    private readonly transport: KafkaTransport,
    private readonly app: INestMicroservice,
    private readonly counted: { joins: number },
  ) {}

  static async start(
    { brokers, topic }: KafkaHarness,
    { controllers, ...settings }: Options,
  ): Promise<KafkaMember> {
    const network = new BreakableNetwork();
    const kafka = clientOf(brokers, network);
    const counted = countJoins(kafka);
    const transport = new KafkaTransport({
      kafka,
      topic,
      logger: pino({ level: 'silent' }),
      sessionTimeoutMs: SESSION_TIMEOUT_MS,
      ...settings,
    });
    const root = class {};
    Module({ controllers: [...controllers] })(root);
    const app = await NestFactory.createMicroservice(root, { strategy: transport, logger: false });
    await app.listen();
    return new KafkaMember(network, transport, app, counted);
  }

  /** Whether it is in its group, however well it works there. */
  get joined(): boolean {
    const { detail } = this.health();
    return detail !== 'not in its group yet';
  }

  /** How often it has joined its group. */
  get joins(): number {
    return this.counted.joins;
  }

  health() {
    return this.transport.health();
  }

  stop(): Promise<void> {
    this.#ended ??= this.app.close();
    return this.#ended;
  }

  async crash(): Promise<void> {
    this.network.refuse();
    // Its handlers may be held by the test: the end is awaited when the test is over.
    this.#ended ??= this.app.close();
  }
}

function countJoins(kafka: Kafka): { joins: number } {
  const counted = { joins: 0 };
  const makeConsumer = kafka.consumer.bind(kafka);
  kafka.consumer = (settings) => {
    const consumer = makeConsumer(settings);
    consumer.on(consumer.events.GROUP_JOIN, () => {
      counted.joins += 1;
    });
    return consumer;
  };
  return counted;
}
