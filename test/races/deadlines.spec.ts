import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Envelope } from '#contracts';
import { DatabaseClockEstimate } from '../support/races/database-clock.js';
import { direct, type Instances, startInstances } from '../support/races/instances.js';
import { readStoredLog } from '../support/races/stored-log.js';

const QUESTIONS = 200;
const AROUND_MS = 80;
/** Some that are in time on the slowest machine, some that are late on the fastest. */
const IN_TIME_MS = -1_200;
const LATE_MS = 80;

let settled: Instances;
let clock: DatabaseClockEstimate;
beforeAll(async () => {
  settled = await startInstances();
  clock = await DatabaseClockEstimate.of(settled.database.connection);
});
afterEach(() => settled.assertOneStory());
afterAll(() => settled.stop());

const instanceOf = (index: number) => (index % 2 === 0 ? settled.first : settled.second);

function offsetOf(index: number): number {
  if (index % 10 === 0) return index % 20 === 0 ? IN_TIME_MS : LATE_MS;
  return -AROUND_MS + (index / QUESTIONS) * 2 * AROUND_MS;
}

async function endOf(id: string) {
  const { events } = await readStoredLog(settled.database.connection);
  return events.filter(({ stream }) => stream === `question:${id}`).at(-1);
}

describe('an answer around the deadline', () => {
  test('counts when it is told to, and does not when it is told not to', async () => {
    const { agent, ada } = settled;
    const told = await Promise.all(
      Array.from({ length: QUESTIONS }, async (_, index) => {
        const asked = await agent.at(instanceOf(index)).ask({ ...direct(ada), expiresIn: 2 });
        await clock.reaches(Date.parse(asked.expiresAt) + offsetOf(index));
        const attempt = await ada.at(instanceOf(index >> 1)).answer(asked.id);
        return { asked, ...attempt, later: await agent.fetch(asked.id) };
      }),
    );
    for (const { applied, question, later } of told) {
      expect(question.state).toBe(applied ? 'answered' : 'expired');
      expect(later).toEqual(question);
    }
    // Otherwise nobody was near the deadline.
    expect(new Set(told.map(({ applied }) => applied)).size).toBe(2);

    const { events } = await readStoredLog(settled.database.connection);
    const ends = new Map(events.filter(({ version }) => version === 2).map((event) => [event.stream, event]));
    for (const { asked, applied } of told) {
      const end = ends.get(`question:${asked.id}`);
      expect(end?.type).toBe(applied ? 'question.answered' : 'question.expired');
      expect(Date.parse(end?.at ?? '') < Date.parse(asked.expiresAt)).toBe(applied);
    }
  });
});

describe('a question whose deadline has come', () => {
  test('is never shown as pending after it, on no instance', async () => {
    const { agent, ada, first, second } = settled;
    const questions = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        agent.at(instanceOf(index)).ask({ ...direct(ada), expiresIn: 1 + index / 20 }),
      ),
    );
    const looked = await Promise.all(
      questions.flatMap((question) => [first, second].map((instance) => lookAround(instance, question))),
    );
    expect(looked.flatMap(({ shownLate }) => shownLate).filter((state) => state !== 'expired')).toEqual([]);
    expect(looked.flatMap(({ shownInTime }) => shownInTime)).toContain('pending');
  });

  test('releases who waits for it within a second, with the expiry', async () => {
    const { agent, ada, first, second } = settled;
    const { id, expiresAt } = await agent.ask({ ...direct(ada), expiresIn: 1, defaultOption: 'no' });
    const waits = [first, second].map(async (instance) => {
      const question = await agent.at(instance).wait(id);
      return { question, lateMs: clock.nowMs - Date.parse(expiresAt) };
    });
    for (const { question, lateMs } of await Promise.all(waits)) {
      expect(question.outcome).toMatchObject({ kind: 'expired', default: { id: 'no', label: 'No' } });
      expect(lateMs).toBeLessThan(1_000);
    }
    expect((await endOf(id))?.type).toBe('question.expired');
  });
});

/** Fetches again and again from shortly before the deadline until it shows as settled after it. */
async function lookAround(instance: { url: string }, { id, expiresAt }: Envelope) {
  const agent = settled.agent.at(instance);
  const deadlineMs = Date.parse(expiresAt);
  await clock.reaches(deadlineMs - 30);
  const shownInTime: string[] = [];
  const shownLate: string[] = [];
  while (shownLate.length < 3) {
    // Half a round trip is what is not known of the database's clock.
    const isLate = clock.nowMs >= deadlineMs + 1;
    (isLate ? shownLate : shownInTime).push((await agent.fetch(id)).state);
  }
  return { shownInTime, shownLate };
}
