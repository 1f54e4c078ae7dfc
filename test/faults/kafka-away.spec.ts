import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { describeWithKafka, kafkaEnvironment, type OwnBroker, ownBroker } from '../support/kafka.js';
import { figureOf } from '../support/metrics.js';
import { type Cast, cast, direct } from '../support/races/instances.js';
import { assertPublishedOnce } from '../support/races/published.js';
import { SettledProcess } from '../support/settled-process.js';

const TIMEOUT_MS = 120_000;
const BACK_WITHIN_MS = 40_000;

describeWithKafka('Kafka that is away, at start and later', () => {
  let broker: OwnBroker;
  let database: TestDatabase;
  let environment: ReturnType<typeof kafkaEnvironment> & Record<string, string>;
  let settled: SettledProcess;
  let people: Cast;
  beforeAll(async () => {
    [broker, database] = await Promise.all([ownBroker(), createTestDatabase()]);
    await broker.kill();
    environment = { ...kafkaEnvironment(broker), DATABASE_URL: database.url, LOG_LEVEL: 'silent' };
    settled = await SettledProcess.start(environment);
    people = await cast(settled);
  });
  afterAll(async () => {
    await settled?.stop();
    await broker?.stop();
    await database?.drop();
  });

  async function readiness() {
    const response = await settled.call('GET', '/readyz');
    const { checks } = (await response.json()) as { checks: Record<string, { ok: boolean; detail: string }> };
    return { status: response.status, checks };
  }

  /** Asked, waited for, answered, expired: what needs no Kafka. */
  async function useIt(): Promise<void> {
    const { agent, ada } = people;
    const answered = await agent.ask(direct(ada));
    const waiting = agent.wait(answered.id);
    await ada.answer(answered.id);
    expect((await waiting).state).toBe('answered');
    const expiring = await agent.ask({ ...direct(ada), expiresIn: 1 });
    expect((await agent.wait(expiring.id)).state).toBe('expired');
  }

  async function saysSo(): Promise<void> {
    await eventually(async () => {
      const { checks } = await readiness();
      return checks.relay?.detail.startsWith('cannot publish') && !checks['expiry consumer']?.ok;
    }, BACK_WITHIN_MS);
    expect((await readiness()).status).toBe(503);
    expect((await settled.call('GET', '/healthz')).status).toBe(200);
  }

  async function recovers(): Promise<void> {
    await broker.restart();
    await eventually(async () => (await readiness()).status === 200, BACK_WITHIN_MS);
    await assertPublishedOnce({ environment, connection: database.connection, agent: people.agent });
    expect(await figureOf(settled, 'settled_relay_lag_events')).toBe(0);
  }

  test(
    'stops nothing but the relay and the consumers, which say so and catch up',
    async () => {
      await useIt();
      await saysSo();
      await recovers();
      await useIt();
      await broker.kill();
      await useIt();
      await saysSo();
      await recovers();
    },
    TIMEOUT_MS,
  );
});
