import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Envelope } from '#contracts';
import { DatabaseClockEstimate } from '../support/races/database-clock.js';
import { direct, type Instances, startInstances } from '../support/races/instances.js';

const ROUNDS = 200;
/** When answer and cancel come, from the deadline: a quarter well before it, the others around it. */
const EARLY_MS = -1_200;
const AROUND_MS = { from: -60, to: 15 };

let settled: Instances;
let clock: DatabaseClockEstimate;
beforeAll(async () => {
  settled = await startInstances();
  clock = await DatabaseClockEstimate.of(settled.database.connection);
});
afterEach(() => settled.assertOneStory());
afterAll(() => settled.stop());

function offsetOf(round: number): number {
  if (round % 4 === 0) return EARLY_MS;
  return AROUND_MS.from + (round / ROUNDS) * (AROUND_MS.to - AROUND_MS.from);
}

interface Round {
  /** Which of the two that made an attempt was told that it settled the question. */
  readonly applied: string[];
  /** The question as each of those who care was told of it. */
  readonly told: readonly Envelope[];
}

async function settleAtOnce(round: number): Promise<Round> {
  const { first, second, agent, ada } = settled;
  const [here, there] = round % 2 === 0 ? [first, second] : [second, first];
  const { id, expiresAt } = await agent.at(here).ask({ ...direct(ada), expiresIn: 2 });
  const waits = [here, there].map((instance) => agent.at(instance).wait(id));
  await clock.reaches(Date.parse(expiresAt) + offsetOf(round));
  const answer = () => ada.at(here).answer(id);
  const cancel = () => agent.at(there).cancel(id);
  const attempts = round % 3 === 0 ? [cancel(), answer()] : [answer(), cancel()];
  const names = round % 3 === 0 ? ['cancelled', 'answered'] : ['answered', 'cancelled'];
  const results = await Promise.all(attempts);
  const fetches = [here, there].map((instance) => ada.at(instance).fetch(id));
  return {
    applied: names.filter((_, index) => results[index]?.applied),
    told: [...results.map(({ question }) => question), ...(await Promise.all([...waits, ...fetches]))],
  };
}

test('answer, cancel and expiry at once, on two instances, settle a question once, and all are told the same', async () => {
  const rounds = await Promise.all(Array.from({ length: ROUNDS }, (_, round) => settleAtOnce(round)));
  const outcomes = new Set<string>();
  for (const { applied, told } of rounds) {
    const [outcome] = told as [Envelope];
    for (const question of told) expect(question).toEqual(outcome);
    expect(applied).toEqual(outcome.state === 'expired' ? [] : [outcome.state]);
    outcomes.add(outcome.state);
  }
  // Otherwise it was no race: the last come too late on any machine, and the early ones in time.
  expect(outcomes).toContain('expired');
  expect(outcomes.size).toBeGreaterThan(1);
});
