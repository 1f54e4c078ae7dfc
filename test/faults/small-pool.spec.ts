import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { InboxStream } from '../support/races/inbox-stream.js';
import { direct, type Instances, startInstances } from '../support/races/instances.js';

const LANES = 8;
const TURNS = 5;

let settled: Instances;
beforeAll(async () => {
  settled = await startInstances({ DATABASE_POOL_SIZE: '1' });
});
afterAll(() => settled.stop());

/** Of everything a little: ask, wait, list, answer or cancel, keys, rooms, inbox. */
async function mixedTurn(lane: number, turn: number): Promise<void> {
  const { admin, agent, ada, first, second } = settled;
  const [here, there] = turn % 2 === 0 ? [first, second] : [second, first];
  const room = `room-${lane}`;
  const subject = `user:${lane}-${turn}`;
  await admin.at(here).send('PUT', `/v1/rooms/${room}`);
  await admin.at(here).send('PUT', `/v1/rooms/${room}/members/${subject}`);
  const person = await admin.at(there).newcomer(subject, ['answer']);
  const inbox = await InboxStream.open(person);
  const retriable = { idempotencyKey: randomUUID() };
  const asked = await agent.at(here).ask({ scope: { kind: 'room', room } }, retriable);
  await inbox.told('ping', asked.id);
  const waiting = agent.at(there).wait(asked.id);
  const [attempt] = await Promise.all([
    lane % 2 === 0 ? person.answer(asked.id, 'yes', retriable) : agent.at(there).cancel(asked.id, retriable),
    agent.at(here).get('/v1/questions?state=pending'),
    agent.at(there).ask({ ...direct(ada), expiresIn: 1 }),
  ]);
  expect(attempt.applied).toBe(true);
  expect(await waiting).toEqual(attempt.question);
  expect(await inbox.told('retract', asked.id)).toEqual(attempt.question);
  expect((await admin.at(here).send('DELETE', `/v1/keys/${person.keyId}`)).status).toBe(204);
  inbox.close();
}

test('one connection to the database is enough for everything at once', async () => {
  await Promise.all(
    Array.from({ length: LANES }, async (_, lane) => {
      for (let turn = 0; turn < TURNS; turn += 1) await mixedTurn(lane, turn);
    }),
  );
  await settled.assertOneStory();
});
