import { z } from 'zod';
import {
  AnswerSchema,
  ChosenOptionSchema,
  EnvelopeSchema,
  OptionSchema,
  OutcomeSchema,
  ScopeSchema,
} from './envelope.js';
import {
  DEFAULT_PARTITIONS,
  DeadLetterHeadersSchema,
  deadLetterTopicOf,
  OUTCOMES_TOPIC,
  QUESTIONS_TOPIC,
  RecordHeadersSchema,
} from './records.js';

type Json = Readonly<Record<string, unknown>>;

const BINDING_VERSION = '0.5.0';

const MESSAGES = [
  { name: 'questionAsked', type: 'question.asked', state: 'pending', title: 'A question was asked' },
  {
    name: 'questionAnswered',
    type: 'question.answered',
    state: 'answered',
    title: 'Somebody answered, or skipped',
  },
  {
    name: 'questionExpired',
    type: 'question.expired',
    state: 'expired',
    title: 'The deadline passed unanswered',
  },
  {
    name: 'questionCancelled',
    type: 'question.cancelled',
    state: 'cancelled',
    title: 'The asker took it back',
  },
] as const;
type EventMessage = (typeof MESSAGES)[number];

const DESCRIPTION = `Every event of every question, as it is committed, and the outcome of each question.

A record is a CloudEvents 1.0 event in the binary mode of the Kafka protocol binding: the attributes are headers with the
prefix \`ce_\`, and the value is the question as it was then, the same JSON that \`GET /v1/questions/{id}\` returns. The key is
the question's id, so that one question's events are in one partition, in order.

Records are written in transactions. A consumer with \`isolation.level=read_committed\` finds each event once.`;

/** The AsyncAPI 3.0 document of what Settled publishes to Kafka, under the default names of the topics. */
export function asyncApiDocument(version: string): Json {
  return {
    asyncapi: '3.0.0',
    info: { title: 'Settled on Kafka', version, description: DESCRIPTION, license: { name: 'MIT' } },
    defaultContentType: 'application/json',
    servers: {
      kafka: {
        host: '{broker}',
        protocol: 'kafka',
        description: 'What `KAFKA_BROKERS` names',
        variables: { broker: { default: 'localhost:9092' } },
      },
    },
    channels: {
      questions: channel({
        topic: QUESTIONS_TOPIC,
        description: 'Every event of every question.',
        cleanup: 'delete',
        partitions: DEFAULT_PARTITIONS,
        messages: MESSAGES.map(({ name }) => name),
      }),
      outcomes: channel({
        topic: OUTCOMES_TOPIC,
        description:
          'The event that settled each question: one record per key. Compaction keeps it for ever.',
        cleanup: 'compact',
        partitions: DEFAULT_PARTITIONS,
        messages: MESSAGES.filter(({ state }) => state !== 'pending').map(({ name }) => name),
      }),
      deadLetters: channel({
        topic: deadLetterTopicOf(QUESTIONS_TOPIC),
        description:
          'Records that a consumer group of Settled gave up on, with what went wrong in more headers.',
        cleanup: 'delete',
        partitions: 1,
        messages: [DEAD_LETTER.name],
      }),
    },
    operations: {
      publishEvents: send('questions', 'Publish each event, once'),
      publishOutcomes: send('outcomes', 'Publish the outcome of each question, once'),
      publishDeadLetters: send('deadLetters', 'Keep what a consumer group gave up on'),
    },
    components: {
      messages: {
        ...Object.fromEntries(MESSAGES.map((one) => [one.name, eventMessage(one)])),
        deadLetter: DEAD_LETTER,
      },
      schemas: schemas(),
    },
  };
}

interface Channel {
  readonly topic: string;
  readonly description: string;
  readonly cleanup: 'delete' | 'compact';
  readonly partitions: number;
  readonly messages: readonly string[];
}

function channel({ topic, description, cleanup, partitions, messages }: Channel): Json {
  const topicConfiguration = { 'cleanup.policy': [cleanup] };
  return {
    address: topic,
    description,
    servers: [{ $ref: '#/servers/kafka' }],
    messages: Object.fromEntries(messages.map((name) => [name, { $ref: `#/components/messages/${name}` }])),
    bindings: { kafka: { topic, partitions, topicConfiguration, bindingVersion: BINDING_VERSION } },
  };
}

function send(channelName: string, summary: string): Json {
  return { action: 'send', channel: { $ref: `#/channels/${channelName}` }, summary };
}

const KEY = {
  kafka: {
    key: { type: 'string', format: 'uuid', description: "The question's id" },
    bindingVersion: BINDING_VERSION,
  },
};

/** The type in the headers and the state in the value go together. */
function eventMessage({ name, type, state, title }: EventMessage): Json {
  return {
    name,
    title,
    contentType: 'application/json',
    headers: narrowed('RecordHeaders', { ce_type: { const: type } }),
    payload: narrowed('Question', { state: { const: state } }),
    bindings: KEY,
  };
}

const DEAD_LETTER = {
  name: 'deadLetter',
  title: 'A record that could not be handled',
  summary: 'Key, value and headers are the record as it was; it may be anything.',
  headers: { $ref: '#/components/schemas/DeadLetterHeaders' },
  payload: {},
};

function narrowed(schema: string, properties: Json): Json {
  return { allOf: [{ $ref: `#/components/schemas/${schema}` }, { type: 'object', properties }] };
}

/** AsyncAPI takes schemas of JSON Schema draft 7 where no other format is named. */
function schemas(): Json {
  const registry = z.registry<{ id: string }>();
  const named = {
    Question: EnvelopeSchema,
    Scope: ScopeSchema,
    Option: OptionSchema,
    ChosenOption: ChosenOptionSchema,
    Answer: AnswerSchema,
    Outcome: OutcomeSchema,
    RecordHeaders: RecordHeadersSchema,
    DeadLetterHeaders: DeadLetterHeadersSchema,
  };
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id });
  const generated = z.toJSONSchema(registry, {
    target: 'draft-7',
    uri: (id) => `#/components/schemas/${id}`,
  });
  const plain = Object.entries(generated.schemas).map(([id, { $schema: _, $id: __, ...schema }]) => [
    id,
    schema,
  ]);
  return Object.fromEntries(plain);
}
