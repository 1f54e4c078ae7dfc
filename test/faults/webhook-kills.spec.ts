import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { inLanes } from '../support/races/in-lanes.js';
import { type Cast, cast, direct } from '../support/races/instances.js';
import { SettledProcess } from '../support/settled-process.js';
import { EAGER } from '../support/webhooks/hooks.js';
import { answering, Receiver } from '../support/webhooks/receiver.js';

const LONG = process.env.FAULTS === 'long';
const EVENTS = LONG ? 510 : 100;
const KILLS = LONG ? 30 : 5;
const LONGEST_ANSWER_MS = 60;
/** What was in flight is claimed again when the lease of who was killed is over. */
const LEASE_AND_MORE_MS = 60_000;
const IN_FLIGHT = 'SELECT delivery AS id FROM webhook_claims';
const STATES = 'SELECT status, count(*)::integer AS count FROM webhook_deliveries GROUP BY status';

let database: TestDatabase;
let environment: Record<string, string>;
let questions: SettledProcess;
let sending: SettledProcess;
let people: Cast;
let receiver: Receiver;
let pool: pg.Pool;
beforeAll(async () => {
  database = await createTestDatabase();
  pool = new pg.Pool(database.connection);
  environment = { ...EAGER, DATABASE_URL: database.url };
  questions = await SettledProcess.start({ DATABASE_URL: database.url }, undefined, 'questions');
  sending = await startSending();
  people = await cast(questions);
  receiver = await Receiver.start();
  receiver.answer = (_received, response) => {
    setTimeout(() => response.end(), Math.random() * LONGEST_ANSWER_MS);
  };
});
afterAll(async () => {
  await Promise.all([questions?.stop(), sending?.stop()]);
  receiver?.stop();
  await pool?.end();
  await database?.drop();
});

function startSending(): Promise<SettledProcess> {
  return SettledProcess.start(environment, questions.adminKey, 'webhooks');
}

test(
  `${EVENTS} events while the sender is killed ${KILLS} times: all arrive, and twice only what was in flight`,
  async () => {
    const { key } = await questions.key('user:platform', ['webhooks']);
    const body = { url: receiver.url, events: ['question.asked'], maxConcurrency: 100 };
    expect((await sending.call('POST', '/v1/webhooks', { key, body })).status).toBe(201);
    const asked: { readonly id: string }[] = [];
    const mayComeAgain = new Set<string>();
    let hits = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      const some = Array.from({ length: EVENTS / KILLS });
      const asking = inLanes(some, () => people.agent.ask(direct(people.ada)));
      const come = receiver.received.length;
      await eventually(() => receiver.received.length > come);
      await pause(Math.random() * LONGEST_ANSWER_MS);
      await sending.kill();
      asked.push(...(await asking));
      const before = mayComeAgain.size;
      const { rows } = await pool.query<{ id: string }>(IN_FLIGHT);
      for (const { id } of rows) mayComeAgain.add(id);
      if (mayComeAgain.size > before) hits += 1;
      sending = await startSending();
    }
    await eventually(async () => {
      const { rows } = await pool.query<{ status: string; count: number }>(STATES);
      return rows.length === 1 && rows[0]?.status === 'delivered' && rows[0].count === EVENTS;
    }, LEASE_AND_MORE_MS);
    expect(new Set(receiver.received.map(({ data }) => data.id))).toEqual(new Set(asked.map(({ id }) => id)));
    expect(new Set(receiver.ids).size).toBe(EVENTS);
    const again = receiver.ids.filter((id, index) => receiver.ids.indexOf(id) < index);
    expect(again.filter((id) => !mayComeAgain.has(id))).toEqual([]);
    expect(hits).toBeGreaterThan(KILLS / 2);
    expect(again).not.toEqual([]);
  },
  LONG ? 300_000 : 120_000,
);

test('what fell due while nobody was there to send is sent at the next start', async () => {
  const { key } = await questions.key('user:other-platform', ['webhooks']);
  const late = await Receiver.start();
  late.answer = answering(503);
  environment = { ...environment, WEBHOOKS_RETRY_SCHEDULE: '1' };
  await sending.stop();
  sending = await startSending();
  const created = await sending.call('POST', '/v1/webhooks', { key, body: { url: late.url } });
  expect(created.status).toBe(201);
  const { id } = await people.agent.ask(direct(people.ada));
  await people.ada.answer(id);
  await eventually(() => late.received.length === 1);
  await sending.stop();
  await pause(1_500);
  late.answer = answering(200);
  const startedAt = performance.now();
  sending = await startSending();
  await eventually(() => late.received.length === 2);
  expect(performance.now() - startedAt).toBeLessThan(5_000);
  expect(new Set(late.ids).size).toBe(1);
  late.stop();
}, 30_000);
