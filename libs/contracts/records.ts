import { z } from 'zod';
import { InstantSchema } from './envelope.js';
import { QuestionEventSchema } from './events.js';

/** Every event of every question, in the order of each question: key is the question's id, value its envelope. */
export const QUESTIONS_TOPIC = 'settled.questions.v1';
/** The outcome of each question, once: compacted, same key, headers and value. */
export const OUTCOMES_TOPIC = 'settled.outcomes.v1';
/** Of the relay alone: how far it has published. */
export const RELAY_TOPIC = 'settled.relay.v1';

/** Of the first two topics, when they are made with nothing else set. */
export const DEFAULT_PARTITIONS = 12;

/** Where records go that a consumer group gave up on. */
export function deadLetterTopicOf(topic: string): string {
  return `${topic}.dlq`;
}

const EVENT_TYPES = QuestionEventSchema.options.map(({ shape }) => shape.type.value);

/**
 * The headers of a record, as UTF-8 texts: a CloudEvents 1.0 event in the binary mode of its Kafka protocol binding, whose
 * context attributes have the prefix `ce_`.
 */
export const RecordHeadersSchema = z
  .object({
    ce_specversion: z.literal('1.0'),
    ce_id: z.uuid().describe('The id of the event: the same in both topics, over REST and at every delivery'),
    ce_type: z.enum(EVENT_TYPES as [string, ...string[]]),
    ce_source: z.string().describe('`/settled/<tenant>`, percent-encoded'),
    ce_time: InstantSchema.describe('When the event was committed'),
    ce_subject: z.uuid().describe('The id of the question'),
    'content-type': z.literal('application/json'),
    'settled-position': z.string().regex(/^\d+$/).describe('In the log: the commit order'),
    'settled-tenant': z.string(),
  })
  .meta({ id: 'RecordHeaders' });

/** What is added to the headers of a record when it becomes a dead letter. */
export const DeadLetterHeadersSchema = z
  .object({
    'settled-dlq-group': z.string().describe('The consumer group that gave up'),
    'settled-dlq-error': z.string().describe('Why, as the last attempt said'),
    'settled-dlq-attempts': z.string().regex(/^\d+$/),
    'settled-dlq-topic': z.string().describe('Where the record was'),
    'settled-dlq-partition': z.string().regex(/^\d+$/),
    'settled-dlq-offset': z.string().regex(/^\d+$/),
  })
  .meta({ id: 'DeadLetterHeaders' });

export type RecordHeaders = z.infer<typeof RecordHeadersSchema>;
export type DeadLetterHeaders = z.infer<typeof DeadLetterHeadersSchema>;
