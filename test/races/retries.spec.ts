import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { direct, type Instances, startInstances } from '../support/races/instances.js';
import { type Attempt, type Participant, Refused, refusalOf } from '../support/races/participant.js';
import { readStoredLog } from '../support/races/stored-log.js';
import { untilDone } from '../support/races/until-done.js';

const ROUNDS = 50;

let settled: Instances;
beforeAll(async () => {
  settled = await startInstances();
});
afterEach(() => settled.assertOneStory());
afterAll(() => settled.stop());

/** The same request four times at once, twice on each instance. */
function everywhere<Result>(send: (instance: { url: string }) => Promise<Result>): Promise<Result[]> {
  const { first, second } = settled;
  return Promise.all([first, second, first, second].map((instance) => untilDone(() => send(instance))));
}

const rounds = Array.from({ length: ROUNDS }, (_, round) => round);

describe('retries with one Idempotency-Key that race on two instances', () => {
  test('ask one question', async () => {
    const { agent, ada } = settled;
    const asked = await Promise.all(
      rounds.map(() => {
        const idempotencyKey = randomUUID();
        return everywhere((instance) => agent.at(instance).ask(direct(ada), { idempotencyKey }));
      }),
    );
    for (const [question, ...others] of asked) expect(others).toEqual([question, question, question]);
    const ids = new Set(asked.map(([question]) => question?.id));
    expect(ids.size).toBe(ROUNDS);
    const { events } = await readStoredLog(settled.database.connection);
    expect(events.filter(({ type }) => type === 'question.asked')).toHaveLength(ROUNDS);
  });

  test('are all told that they answered, and one of them did', async () => {
    const { agent, ada } = settled;
    const told = await Promise.all(
      rounds.map(async () => {
        const { id } = await agent.ask(direct(ada));
        const idempotencyKey = randomUUID();
        return await everywhere((instance) => ada.at(instance).answer(id, 'yes', { idempotencyKey }));
      }),
    );
    for (const attempts of told) {
      expect(attempts.map(({ applied }) => applied)).toEqual([true, true, true, true]);
      expect(attempts.filter(({ replayed }) => !replayed)).toHaveLength(1);
      expectSameQuestion(attempts);
    }
  });

  test('are all told the same when somebody else cancels meanwhile', async () => {
    const { agent, ada, second } = settled;
    const told = await Promise.all(
      rounds.map(async (round) => {
        const { id } = await agent.ask(direct(ada));
        const idempotencyKey = randomUUID();
        const cancel = () => agent.at(second).cancel(id, { idempotencyKey });
        const early = round % 2 === 0 ? cancel() : undefined;
        const attempts = await everywhere((instance) =>
          ada.at(instance).answer(id, 'yes', { idempotencyKey }),
        );
        return { attempts, cancelled: await (early ?? cancel()) };
      }),
    );
    for (const { attempts, cancelled } of told) {
      const applied = cancelled.question.state === 'answered';
      expect(attempts.map((attempt) => attempt.applied)).toEqual([applied, applied, applied, applied]);
      expect(cancelled.applied).toBe(!applied);
      expectSameQuestion([...attempts, cancelled]);
    }
  });

  test('with another body are refused, whichever comes first', async () => {
    const { agent, ada, first, second } = settled;
    await Promise.all(
      rounds.map(async () => {
        const { id } = await agent.ask(direct(ada));
        const idempotencyKey = randomUUID();
        const send = (who: Participant, option: string) =>
          untilDone(() => who.answer(id, option, { idempotencyKey }));
        const attempts = [send(ada.at(first), 'yes'), send(ada.at(second), 'no')];
        const results = await Promise.allSettled(attempts);
        const refused = results.findIndex(({ status }) => status === 'rejected');
        expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
        const reused = { status: 422, code: 'idempotency_key_reused' };
        expect(await refusalOf(attempts[refused] as Promise<Attempt>)).toEqual(reused);
      }),
    );
  });

  test('make one key, and show it to all of them', async () => {
    const { admin } = settled;
    const body = { subject: 'user:cy', scopes: ['answer'] };
    const made = await Promise.all(
      rounds.slice(0, 10).map(() => {
        const headers = { 'idempotency-key': randomUUID() };
        return everywhere(async (instance) => {
          const response = await admin.at(instance).send('POST', '/v1/keys', { body, headers });
          const key = await response.json();
          if (response.status === 409) throw new Refused(409, response.headers, key);
          return { status: response.status, key };
        });
      }),
    );
    for (const [one, ...others] of made) {
      expect(one?.status).toBe(201);
      expect(others).toEqual([one, one, one]);
    }
  });
});

function expectSameQuestion(attempts: readonly Attempt[]): void {
  const question = attempts[0]?.question;
  for (const attempt of attempts) expect(attempt.question).toEqual(question);
}
