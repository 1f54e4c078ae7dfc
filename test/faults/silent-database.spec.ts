import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { raiseBarrier } from '../support/barrier.js';
import { direct, type Instances, startInstances } from '../support/races/instances.js';
import { isTurnedAway } from '../support/races/ledger.js';
import { type ProxiedDatabase, proxyTo } from '../support/races/proxied-database.js';
import { SettledProcess } from '../support/settled-process.js';

/** The server gives a statement up after 30 s; who hears nothing from it must not wait much longer. */
const GIVEN_UP_WITHIN_MS = 40_000;

let settled: Instances;
let proxy: ProxiedDatabase;
let remote: SettledProcess;
beforeAll(async () => {
  settled = await startInstances({ LOG_LEVEL: 'silent' });
  proxy = await proxyTo(settled.database);
  const environment = { DATABASE_URL: proxy.url, LOG_LEVEL: 'silent' };
  remote = await SettledProcess.start(environment, settled.first.adminKey);
});
afterAll(async () => {
  await remote.kill();
  await proxy.stop();
  await settled.stop();
});

test('an answer that a silent network keeps from its acknowledgement is turned away, and its retry finds it', async () => {
  const { agent, ada } = settled;
  const { id } = await agent.ask(direct(ada));
  const idempotencyKey = randomUUID();
  const barrier = await raiseBarrier(settled.database.connection);
  const signal = AbortSignal.timeout(GIVEN_UP_WITHIN_MS);
  const answer = ada.at(remote).answer(id, 'yes', { idempotencyKey, signal });
  const unacknowledged = answer.catch((error: unknown) => error);
  await barrier.waiting(1);
  // From here on the connections stay open, and nothing comes through.
  proxy.freeze('replies');
  await barrier.release();
  const outcome = await agent.wait(id);
  expect(outcome.state).toBe('answered');

  const error = await unacknowledged;
  proxy.cut();
  proxy.restore();
  expect(String(error)).toMatch(/^Refused: 503/);
  expect(isTurnedAway(error)).toBe(true);
  const retry = await ada.at(remote).answer(id, 'yes', { idempotencyKey });
  expect(retry).toEqual({ applied: true, replayed: true, question: outcome });
  await settled.assertOneStory();
});
