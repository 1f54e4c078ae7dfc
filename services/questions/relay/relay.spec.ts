import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { pino } from 'pino';
import type { KafkaConfig } from '#bus';
import { ANSWER_TEXT_MAX_CHARACTERS, AskBodySchema } from '#contracts';
import { EVENT_MAX_BYTES, type LoggedEvent } from '#eventlog';
import { kafkaClient } from '#kafka';
import { createMetrics } from '#platform';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database.js';
import { eventually } from '../../../test/support/eventually.js';
import { describeWithKafka, kafkaConfig } from '../../../test/support/kafka.js';
import { openLog, type TestLog } from '../../../test/support/log.js';
import {
  answerInWords,
  answerQuestion,
  askQuestion,
  idOf,
  projectEnvelope,
  TENANT,
} from '../../../test/support/questions.js';
import { readTopic } from '../../../test/support/topic-reader.js';
import { Relay } from './relay.js';
import { RelayTerm } from './term.js';

const logger = pino({ level: 'silent' });

describeWithKafka('the relay', (kafka) => {
  let database: TestDatabase;
  let own: TestLog;
  let config: KafkaConfig;
  let stops: (() => Promise<void>)[];
  beforeEach(async () => {
    database = await createTestDatabase();
    own = await openLog(database.connection);
    config = kafkaConfig(kafka());
    stops = [];
  });
  afterEach(async () => {
    for (const stop of stops.reverse()) await stop();
    await own.stop();
    await database.drop();
  });

  /** A process of its own, but for the process. */
  async function startRelay(connection = database.connection) {
    const { log, stop } = await openLog(connection);
    const metrics = createMetrics();
    const kafka = kafkaClient(config, logger);
    const relay = new Relay({ log, connection, kafka, settings: config, logger, metrics });
    relay.start();
    stops.push(stop, () => relay.stop());
    const figure = async (name: string) => {
      const metric = await metrics.getSingleMetric(`settled_relay_${name}`)?.get();
      return metric?.values[0]?.value;
    };
    return {
      relay,
      stop: () => relay.stop(),
      figure,
      leads: () => eventually(async () => (await figure('leader')) === 1),
    };
  }

  const read = (topic: string, count: number) => readTopic({ brokers: kafka().brokers, topic, count });
  const published = (count: number) => read(config.KAFKA_QUESTIONS_TOPIC, count);
  const outcomes = (count: number) => read(config.KAFKA_OUTCOMES_TOPIC, count);

  async function askMany(count: number): Promise<LoggedEvent[]> {
    return await Promise.all(Array.from({ length: count }, () => askQuestion(own.log)));
  }

  async function positions(count: number): Promise<number[]> {
    const records = await published(count);
    return records.map(({ headers }) => Number(headers?.['settled-position'])).sort((a, b) => a - b);
  }

  const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

  test('publishes what was asked before it started and after, as CloudEvents with the envelope', async () => {
    const asked = await askQuestion(own.log);
    await startRelay();
    const answered = await answerQuestion(own.log, idOf(asked));
    const records = await published(2);
    expect(records.map(({ key }) => String(key))).toEqual([idOf(asked), idOf(asked)]);
    expect(records.map(({ value }) => String(value))).toEqual([projectEnvelope(asked), answered.envelope]);
    const [, last] = records;
    const headers = Object.entries(last?.headers ?? {}).map(([name, value]) => [name, String(value)]);
    expect(Object.fromEntries(headers)).toEqual({
      ce_specversion: '1.0',
      ce_id: answered.id,
      ce_type: 'question.answered',
      ce_source: `/settled/${TENANT}`,
      ce_time: answered.at,
      ce_subject: idOf(asked),
      'content-type': 'application/json',
      'settled-position': String(answered.position),
      'settled-tenant': TENANT,
    });
  });

  test('publishes outcomes, and nothing else, a second time in a topic of their own', async () => {
    await startRelay();
    await askQuestion(own.log);
    const asked = await askQuestion(own.log);
    const answered = await answerQuestion(own.log, idOf(asked));
    const [outcome, ...others] = await outcomes(1);
    expect(others).toEqual([]);
    expect(String(outcome?.key)).toBe(idOf(asked));
    expect(String(outcome?.value)).toBe(answered.envelope);
    const [, again] = (await published(3)).filter(({ key }) => String(key) === idOf(asked));
    expect(again?.headers).toEqual(outcome?.headers);
  });

  test('goes on after a restart where it was, and doubles nothing', async () => {
    for (const events of [700, 1, 0, 600]) {
      const { leads, stop } = await startRelay();
      await leads();
      await askMany(events);
      await stop();
    }
    await startRelay();
    expect(await positions(1_301)).toEqual(upTo(1_301));
  });

  test('of two one leads, and the other takes over when that stops', async () => {
    const first = await startRelay();
    await first.leads();
    const second = await startRelay();
    await askMany(5);
    expect(await positions(5)).toEqual(upTo(5));
    expect(await second.figure('leader')).toBe(0);
    await first.stop();
    await second.leads();
    await askMany(5);
    expect(await positions(10)).toEqual(upTo(10));
  });

  test('leads again after its lock was cut, and doubles nothing', async () => {
    const { leads, figure } = await startRelay();
    await leads();
    await askMany(5);
    await own.pool.query(
      `SELECT pg_terminate_backend(pid) FROM pg_locks
       WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    );
    await eventually(async () => (await figure('leader')) === 0);
    await leads();
    await askMany(5);
    expect(await positions(10)).toEqual(upTo(10));
  });

  test('says how far it is behind, and that it is well', async () => {
    const { relay, leads, figure } = await startRelay();
    await leads();
    await askMany(3);
    await eventually(async () => (await figure('published_events_total')) === 3);
    expect(await figure('lag_events')).toBe(0);
    expect(await figure('lag_seconds')).toBe(0);
    expect(await figure('failures_total')).toBe(0);
    expect(relay.health()).toEqual({ ok: true, detail: '' });
  });

  test('publishes the longest question that can be asked and answered', async () => {
    await startRelay();
    const longest = await askQuestion(own.log, longestBody());
    const answered = await answerInWords(own.log, idOf(longest), costly(ANSWER_TEXT_MAX_CHARACTERS));
    const bytes = Buffer.byteLength(answered.envelope ?? '');
    expect(bytes).toBeGreaterThan(400_000);
    expect(bytes).toBeLessThan(EVENT_MAX_BYTES);
    const [outcome] = await outcomes(1);
    expect(String(outcome?.value)).toBe(answered.envelope);
  });

  test('goes on with no other log, and into no other topics, than it began with', async () => {
    const first = await startRelay();
    await first.leads();
    await askMany(3);
    await published(3);
    await first.stop();
    const refusal = async (change: Partial<KafkaConfig>, connection = database.connection) => {
      config = { ...config, ...change };
      const { relay, stop } = await startRelay(connection);
      await eventually(() => relay.health().detail.startsWith('cannot publish'));
      const { detail } = relay.health();
      await stop();
      return detail;
    };
    const other = await createTestDatabase();
    expect(await refusal({}, other.connection)).toContain("another log than this database's");
    const restored = await openLog(other.connection);
    for (let event = 0; event < 5; event += 1) await askQuestion(restored.log);
    expect(await refusal({}, other.connection)).toContain("another log than this database's");
    await restored.stop();
    await other.drop();
    const elsewhere = { KAFKA_QUESTIONS_TOPIC: `${config.KAFKA_QUESTIONS_TOPIC}-2` };
    expect(await refusal(elsewhere)).toContain('need another KAFKA_RELAY_TOPIC');
  });

  test('does not try to lead where it cannot reach Kafka, and is behind visibly when it no longer can', async () => {
    const away = { ...config, KAFKA_BROKERS: ['127.0.0.1:1'] };
    const reachable = config;
    config = away;
    const cutOff = await startRelay();
    await eventually(() => cutOff.relay.health().detail.startsWith('cannot publish'));
    config = reachable;
    const healthy = await startRelay();
    await healthy.leads();
    expect(await cutOff.figure('leader')).toBe(0);
    await askMany(2);
    expect(await positions(2)).toEqual(upTo(2));
  });

  test('leaves a leader that was overtaken no way to publish anything', async () => {
    const [event] = await askMany(1);
    const begin = () => RelayTerm.begin(kafkaClient(config, logger), config);
    const overtaken = await begin();
    stops.push(() => overtaken.end());
    const leader = await begin();
    stops.push(() => leader.end());
    await leader.publish([event as LoggedEvent]);
    await expect(overtaken.publish([event as LoggedEvent])).rejects.toThrow(/epoch|fenced/i);
    expect(await positions(1)).toEqual([1]);
    const next = await begin();
    stops.push(() => next.end());
    expect(next.checkpoint?.position).toBe(1);
  });
});

/** In JSON six bytes each. */
function costly(characters: number): string {
  return '\u0001'.repeat(characters - 1).concat('x');
}

function longestBody() {
  const option = (id: string) => ({ id, label: costly(500), description: costly(2_000) });
  return AskBodySchema.parse({
    prompt: costly(2_000),
    context: costly(16 * 1024),
    options: Array.from({ length: 20 }, (_, index) => option(String(index))),
    allowText: true,
    scope: { kind: 'direct', user: 'user:ada' },
    metadata: { note: 'x'.repeat(4_000) },
  });
}
