import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createLogger } from '#platform';
import { QuestionWriter, sweepOverdue } from '#settling';
import { Sweeper } from '../../services/expiry/sweeper.js';
import { raiseBarrier } from '../support/barrier.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { openLog, type TestLog } from '../support/log.js';
import { DatabaseClockEstimate } from '../support/races/database-clock.js';
import { cast } from '../support/races/instances.js';
import { assertOneStory } from '../support/races/one-story.js';
import { askShortLived } from '../support/races/overdue-questions.js';
import { readStoredLog } from '../support/races/stored-log.js';
import { SettledProcess } from '../support/settled-process.js';

const QUESTIONS = 500;
const SWEEPS = 10;
const LIFETIME_MS = 400;

let database: TestDatabase;
let logs: TestLog[];
beforeAll(async () => {
  database = await createTestDatabase();
  logs = await Promise.all(Array.from({ length: SWEEPS }, () => openLog(database.connection, 2)));
});
afterEach(() => assertOneStory(database.connection));
afterAll(async () => {
  await Promise.all(logs.map((log) => log.stop()));
  await database.drop();
});

/** Asks many questions and waits until they are overdue; nobody sweeps here unless a test does. */
async function overdueQuestions(user = 'user:ada'): Promise<string[]> {
  const [{ log }] = logs as [TestLog];
  const ids = await askShortLived(log, QUESTIONS, { lifetimeMs: LIFETIME_MS, user });
  const clock = await DatabaseClockEstimate.of(database.connection);
  await clock.reaches(clock.nowMs + LIFETIME_MS);
  return ids;
}

async function endsOf(ids: readonly string[]): Promise<string[]> {
  const streams = new Set(ids.map((id) => `question:${id}`));
  const { events } = await readStoredLog(database.connection);
  return events.filter(({ stream, version }) => streams.has(stream) && version > 1).map(({ type }) => type);
}

const allExpired = Array.from({ length: QUESTIONS }, () => 'question.expired');

describe('overdue questions', () => {
  let ids: string[];
  beforeEach(async () => {
    ids = await overdueQuestions();
    expect(await endsOf(ids)).toEqual([]);
  });

  test('expire once each when ten sweeps run at once', async () => {
    const barrier = await raiseBarrier(database.connection);
    const sweeps = logs.map(({ log }) => sweepOverdue(new QuestionWriter(log)));
    // All of them have read the same questions by now.
    await barrier.waiting(SWEEPS);
    await barrier.release();
    const settled = await Promise.all(sweeps);
    expect(settled.reduce((sum, sweep) => sum + sweep.settled, 0)).toBe(QUESTIONS);
    expect(await endsOf(ids)).toEqual(allExpired);
  });

  test('expire once each when ten sweepers start at once', async () => {
    const sweepers = logs.map(({ log }) => new Sweeper(new QuestionWriter(log), createLogger('silent')));
    await Promise.all(sweepers.map((sweeper) => sweeper.start()));
    await Promise.all(sweepers.map((sweeper) => sweeper.sweep()));
    await Promise.all(sweepers.map((sweeper) => sweeper.stop()));
    expect(await endsOf(ids)).toEqual(allExpired);
  });

  test('are settled by the time that a process says it is ready', async () => {
    const process = await SettledProcess.start({ DATABASE_URL: database.url });
    try {
      expect(await endsOf(ids)).toEqual(allExpired);
      const { admin } = await cast(process);
      expect((await admin.fetch(ids[0] as string)).outcome).toMatchObject({ kind: 'expired', default: null });
    } finally {
      await process.stop();
    }
  });
});
