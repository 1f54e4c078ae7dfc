import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Envelope } from '#contracts';
import { direct, type Instances, startInstances } from '../support/races/instances.js';

const ROUNDS = 500;
const LANES = 5;
const WITHIN_MS = 1_000;
const TOGETHER = 100;

let settled: Instances;
beforeAll(async () => {
  settled = await startInstances();
});
afterEach(() => settled.assertOneStory());
afterAll(() => settled.stop());

interface Told {
  readonly waited: Envelope;
  readonly answered: Envelope;
  /** How long after the answer was acknowledged the wait returned. */
  readonly lateMs: number;
}

/** A wait on one instance and an answer on the other, sent in the same instant. */
async function waitAndAnswer(round: number): Promise<Told> {
  const { agent, ada, first, second } = settled;
  const [here, there] = round % 2 === 0 ? [first, second] : [second, first];
  const { id } = await agent.at(round % 4 < 2 ? here : there).ask(direct(ada));
  const wait = async () => {
    const waited = await agent.at(there).wait(id);
    return { waited, atMs: performance.now() };
  };
  const answer = async () => {
    const { applied, question } = await ada.at(here).answer(id);
    expect(applied).toBe(true);
    return { answered: question, atMs: performance.now() };
  };
  // Sent without a pause in between, now the one first and now the other.
  const answering = round % 3 === 0 ? undefined : answer();
  const waiting = wait();
  const { answered, atMs: answeredAtMs } = await (answering ?? answer());
  const { waited, atMs } = await waiting;
  return { waited, answered, lateMs: atMs - answeredAtMs };
}

async function lane(first: number): Promise<Told[]> {
  const told: Told[] = [];
  for (let round = first; round < ROUNDS; round += LANES) told.push(await waitAndAnswer(round));
  return told;
}

describe('a wait on another instance', () => {
  test('that begins in the instant of the answer returns it within a second, 500 times', async () => {
    const lanes = await Promise.all(Array.from({ length: LANES }, (_, index) => lane(index)));
    for (const { waited, answered, lateMs } of lanes.flat()) {
      expect(waited).toEqual(answered);
      expect(lateMs).toBeLessThan(WITHIN_MS);
    }
    expect(lanes.flat()).toHaveLength(ROUNDS);
  });

  test('for any of 100 questions learns the first that is answered within a second', async () => {
    const { agent, ada, first, second } = settled;
    const questions = await Promise.all(Array.from({ length: TOGETHER }, () => agent.ask(direct(ada))));
    const ids = questions.map(({ id }) => id);
    const waits = [first, second].map((instance) =>
      agent.at(instance).get(`/v1/questions/wait?ids=${ids.join(',')}&timeout=20`),
    );
    const { question } = await ada.at(second).answer(ids[70] as string);
    const answeredAtMs = performance.now();
    expect(await Promise.all(waits)).toEqual([{ data: [question] }, { data: [question] }]);
    expect(performance.now() - answeredAtMs).toBeLessThan(WITHIN_MS);
  });

  test('is told by all of 100 answers that come at once, each its own, within a second', async () => {
    const { agent, ada, first, second } = settled;
    const questions = await Promise.all(Array.from({ length: TOGETHER }, () => agent.ask(direct(ada))));
    const waits = questions.map(({ id }) => agent.at(second).wait(id));
    const attempts = await Promise.all(questions.map(({ id }) => ada.at(first).answer(id)));
    const answeredAtMs = performance.now();
    expect(await Promise.all(waits)).toEqual(attempts.map(({ question }) => question));
    expect(performance.now() - answeredAtMs).toBeLessThan(WITHIN_MS);
  });
});
