import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import type { Envelope } from '#contracts';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { DatabaseClockEstimate } from '../support/races/database-clock.js';
import { type Cast, cast, direct } from '../support/races/instances.js';
import { assertOneStory } from '../support/races/one-story.js';
import { refusalOf } from '../support/races/participant.js';
import { SettledProcess } from '../support/settled-process.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const LONGEST_MS = 90 * DAY_MS;
const PRELOAD = new URL('../support/races/shifted-clock.mjs', import.meta.url).href;

let database: TestDatabase;
let right: SettledProcess;
let people: Cast;
let clock: DatabaseClockEstimate;
beforeAll(async () => {
  database = await createTestDatabase();
  right = await SettledProcess.start({ DATABASE_URL: database.url });
  people = await cast(right);
  clock = await DatabaseClockEstimate.of(database.connection);
});
afterEach(() => assertOneStory(database.connection));
afterAll(async () => {
  await right.stop();
  await database.drop();
});

const inMs = (ms: number) => new Date(clock.nowMs + ms).toISOString();

function inKathmandu(instant: string): string {
  return new Date(Date.parse(instant) + 5.75 * HOUR_MS).toISOString().replace('Z', '+05:45');
}

describe.each([
  ['an hour ahead', HOUR_MS],
  ['an hour behind', -HOUR_MS],
])('on a machine whose clock is %s', (_, shiftMs) => {
  let wrong: SettledProcess;
  beforeAll(async () => {
    const environment = { NODE_OPTIONS: `--import=${PRELOAD}`, SHIFTED_CLOCK_MS: String(shiftMs) };
    wrong = await SettledProcess.start({ DATABASE_URL: database.url, ...environment }, right.adminKey);
  });
  afterAll(() => wrong.stop());

  test('the longest lifetime is granted, and a longer one is not, from the first question on', async () => {
    const agent = people.agent.at(wrong);
    const ask = (lifetimeMs: number) => agent.ask({ ...direct(people.ada), expiresAt: inMs(lifetimeMs) });
    expect((await ask(LONGEST_MS - HOUR_MS / 2)).state).toBe('pending');
    expect((await refusalOf(ask(LONGEST_MS + HOUR_MS / 2))).status).toBe(422);
  });

  test('a question is asked at the time of the database, and a deadline that has passed there is refused', async () => {
    const agent = people.agent.at(wrong);
    const { askedAt, expiresAt } = await agent.ask({ ...direct(people.ada), expiresIn: 60 });
    expect(Math.abs(Date.parse(askedAt) - clock.nowMs)).toBeLessThan(10_000);
    expect(Date.parse(expiresAt) - Date.parse(askedAt)).toBe(60_000);
    const early = await refusalOf(agent.ask({ ...direct(people.ada), expiresAt: inMs(-1_000) }));
    expect(early.status).toBe(422);
  });

  test('answers count until the deadline and not after it, wherever they are given', async () => {
    const { agent, ada } = people;
    for (const [here, there] of [
      [wrong, right],
      [right, wrong],
    ] as const) {
      const body = { ...direct(ada), expiresAt: inMs(1_500) };
      const inTime = await agent.at(here).ask(body);
      const late = await agent.at(there).ask(body);
      const waits = [here, there].map((instance) => agent.at(instance).wait(late.id));
      expect((await ada.at(there).answer(inTime.id)).applied).toBe(true);
      expect((await agent.at(here).wait(late.id, 0)).state).toBe('pending');
      const told = await Promise.all(waits);
      expect(clock.nowMs).toBeGreaterThanOrEqual(Date.parse(late.expiresAt));
      expect(clock.nowMs - Date.parse(late.expiresAt)).toBeLessThan(1_000);
      const { applied, question } = await ada.at(here).answer(late.id);
      expect([applied, question.state]).toEqual([false, 'expired']);
      expect(told).toEqual([question, question]);
    }
  });

  test('a wait times out after as long as it was told to', async () => {
    const { id } = await people.agent.ask(direct(people.ada));
    const startedMs = performance.now();
    expect((await people.agent.at(wrong).wait(id, 1)).state).toBe('pending');
    const tookMs = performance.now() - startedMs;
    expect(tookMs).toBeGreaterThanOrEqual(1_000);
    expect(tookMs).toBeLessThan(2_000);
  });
});

describe('a database whose time zone is not UTC', () => {
  let elsewhere: SettledProcess;
  beforeAll(async () => {
    const client = new pg.Client(database.connection);
    await client.connect();
    const name = client.escapeIdentifier(String(database.connection.database));
    await client.query(`ALTER DATABASE ${name} SET timezone = 'Asia/Kathmandu'`);
    await client.query(`ALTER DATABASE ${name} SET datestyle = 'SQL, DMY'`);
    await client.end();
    elsewhere = await SettledProcess.start({ DATABASE_URL: database.url }, right.adminKey);
  });
  afterAll(() => elsewhere.stop());

  test('shows the same instants on every surface', async () => {
    const { admin, agent, ada } = people;
    const expiresAt = inMs(DAY_MS);
    const { id, askedAt } = await agent.ask({ ...direct(ada), expiresAt: inKathmandu(expiresAt) });
    await ada.at(elsewhere).answer(id);
    const paths = [
      `/v1/questions/${id}`,
      `/v1/questions/${id}?version=1`,
      `/v1/questions/${id}?at=${askedAt}`,
      `/v1/questions/${id}/events`,
      '/v1/questions',
      '/v1/events?after=0',
      '/v1/keys',
    ];
    for (const path of paths) expect(await admin.at(elsewhere).get(path)).toEqual(await admin.get(path));
    expect((await agent.at(elsewhere).fetch(id)).expiresAt).toBe(expiresAt);
  });

  test('has the same deadlines', async () => {
    const { agent, ada } = people;
    const questions = await Promise.all(
      [right, elsewhere].map((instance) =>
        agent.at(instance).ask({ ...direct(ada), expiresAt: inMs(1_200) }),
      ),
    );
    const waits = questions.map(({ id }, index) => agent.at(index === 0 ? elsewhere : right).wait(id));
    const looks = questions.map(({ id }, index) => agent.at(index === 0 ? elsewhere : right).fetch(id));
    const states = (envelopes: readonly Envelope[]) => envelopes.map(({ state }) => state);
    expect(states(await Promise.all(looks))).toEqual(['pending', 'pending']);
    expect(states(await Promise.all(waits))).toEqual(['expired', 'expired']);
    for (const { expiresAt } of questions) expect(clock.nowMs - Date.parse(expiresAt)).toBeLessThan(1_000);
  });
});
