import type { KafkaMessage, Message } from 'kafkajs';
import { type RecordHeaders, RecordHeadersSchema } from '#contracts';
import type { BusEvent } from '../contract.js';

/** An event as a record of a topic carries it. */
export interface RecordedEvent extends BusEvent {
  /** JSON text of the envelope at the event. */
  readonly envelope: string;
}

const STREAM_PREFIX = 'question:';

export interface Publishable {
  readonly position: number;
  readonly id: string;
  readonly type: string;
  readonly at: string;
  readonly tenant: string;
  /** The id of the question. */
  readonly question: string;
  readonly envelope: string;
}

export function recordOf(event: Publishable): Message {
  const headers: RecordHeaders = {
    ce_specversion: '1.0',
    ce_id: event.id,
    ce_type: event.type,
    ce_source: `/settled/${encodeURIComponent(event.tenant)}`,
    ce_time: event.at,
    ce_subject: event.question,
    'content-type': 'application/json',
    'settled-position': String(event.position),
    'settled-tenant': event.tenant,
  };
  return { key: event.question, value: event.envelope, headers };
}

/** Throws an error that says what is wrong with a record that nobody of ours has written. */
export function eventOf({ headers, value }: Pick<KafkaMessage, 'headers' | 'value'>): RecordedEvent {
  const texts = Object.fromEntries(Object.entries(headers ?? {}).map(([name, text]) => [name, String(text)]));
  const parsed = RecordHeadersSchema.safeParse(texts);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new Error(`the header ${issue?.path.join('.')} is wrong: ${issue?.message}`);
  }
  const read = parsed.data;
  const envelope = value?.toString() ?? '';
  return {
    position: Number(read['settled-position']),
    id: read.ce_id,
    type: read.ce_type,
    at: read.ce_time,
    tenant: read['settled-tenant'],
    stream: `${STREAM_PREFIX}${read.ce_subject}`,
    version: versionOf(envelope),
    envelope,
  };
}

function versionOf(envelope: string): number {
  const parsed: unknown = JSON.parse(envelope);
  const version =
    typeof parsed === 'object' && parsed !== null && 'version' in parsed ? parsed.version : undefined;
  if (typeof version !== 'number') throw new Error('the value is no envelope of a question');
  return version;
}
