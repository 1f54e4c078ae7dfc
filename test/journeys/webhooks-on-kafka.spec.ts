import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { describeWithKafka, kafkaEnvironment } from '../support/kafka.js';
import { inLanes } from '../support/races/in-lanes.js';
import { type Cast, cast, direct } from '../support/races/instances.js';
import { SettledProcess } from '../support/settled-process.js';
import { EAGER } from '../support/webhooks/hooks.js';
import { Receiver } from '../support/webhooks/receiver.js';

const QUESTIONS = 60;

describeWithKafka('webhooks as two processes of their own, over Kafka', (kafka) => {
  let database: TestDatabase;
  let questions: SettledProcess;
  let sending: SettledProcess[];
  let people: Cast;
  let plain: Receiver;
  let ordered: Receiver;
  beforeAll(async () => {
    database = await createTestDatabase();
    const environment = { ...EAGER, ...kafkaEnvironment(kafka()), DATABASE_URL: database.url };
    questions = await SettledProcess.start(environment, undefined, 'questions');
    const start = () => SettledProcess.start(environment, questions.adminKey, 'webhooks');
    sending = await Promise.all([start(), start()]);
    people = await cast(questions);
    [plain, ordered] = await Promise.all([Receiver.start(), Receiver.start()]);
  });
  afterAll(async () => {
    await Promise.all([questions, ...(sending ?? [])].map((one) => one?.stop()));
    plain?.stop();
    ordered?.stop();
    await database?.drop();
  });

  test('tell everybody of every event once, and in commit order who wants that', async () => {
    const { key } = await questions.key('user:platform', ['webhooks']);
    const events = ['question.asked', 'question.answered'];
    const [one, other] = sending as [SettledProcess, SettledProcess];
    const made = [
      await one.call('POST', '/v1/webhooks', { key, body: { url: plain.url, events } }),
      await other.call('POST', '/v1/webhooks', { key, body: { url: ordered.url, events, ordered: true } }),
    ];
    expect(made.map(({ status }) => status)).toEqual([201, 201]);
    await inLanes(Array.from({ length: QUESTIONS }), async () => {
      const { id } = await people.agent.ask(direct(people.ada));
      await people.ada.answer(id);
    });
    const all = 2 * QUESTIONS;
    await eventually(() => plain.received.length >= all && ordered.received.length >= all, 40_000);
    for (const { ids } of [plain, ordered]) expect([ids.length, new Set(ids).size]).toEqual([all, all]);
    const times = ordered.received.map(({ body }) => (JSON.parse(body) as { timestamp: string }).timestamp);
    expect(times).toEqual(times.toSorted());
    const versions = new Map<string, string[]>();
    for (const { data, type } of ordered.received)
      versions.set(data.id, [...(versions.get(data.id) ?? []), type]);
    for (const types of versions.values()) expect(types).toEqual(events);
  });
});
