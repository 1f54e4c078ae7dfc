import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { raiseBarrier } from '../support/barrier.js';
import { eventually } from '../support/eventually.js';
import { whatWasSentHasArrived } from '../support/races/arrival.js';
import { direct, type Instances, roomOf, startInstances } from '../support/races/instances.js';
import { isTurnedAway } from '../support/races/ledger.js';
import type { Participant } from '../support/races/participant.js';
import { type ProxiedDatabase, proxyTo } from '../support/races/proxied-database.js';
import { SettledProcess } from '../support/settled-process.js';

const ROUNDS = 25;
const WITHIN_MS = 1_000;

/** Every process that listens holds this lock. */
const CUT_LISTENERS = `SELECT pg_terminate_backend(pid) FROM pg_locks
  WHERE locktype = 'advisory' AND classid = 7301 AND objid = 2 AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
const CUT_WHO_WAITS_FOR_A_LOCK = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock'`;

let settled: Instances;
let proxy: ProxiedDatabase;
let remote: SettledProcess;
let database: pg.Client;
beforeAll(async () => {
  settled = await startInstances({ LOG_LEVEL: 'silent' });
  proxy = await proxyTo(settled.database);
  const environment = { DATABASE_URL: proxy.url, LOG_LEVEL: 'silent' };
  remote = await SettledProcess.start(environment, settled.first.adminKey);
  database = new pg.Client(settled.database.connection);
  await database.connect();
});
afterEach(() => settled.assertOneStory());
afterAll(async () => {
  await database.end();
  await remote.stop();
  await proxy.stop();
  await settled.stop();
});

/** A wait on one instance that stands there when the connections of that instance break; then an answer on the other. */
async function waitThroughCut(instance: SettledProcess, cut: () => unknown): Promise<void> {
  const { agent, ada } = settled;
  const { id } = await agent.ask(direct(ada));
  const waiting = agent
    .at(instance)
    .wait(id)
    .then((question) => ({ question, atMs: performance.now() }));
  await whatWasSentHasArrived(instance);
  await agent.at(instance).fetch(id);
  await cut();
  const { question } = await ada.answer(id);
  const answeredAtMs = performance.now();
  const told = await waiting;
  expect(told.question).toEqual(question);
  expect(told.atMs - answeredAtMs).toBeLessThan(WITHIN_MS);
}

describe('a wait learns within a second of an answer on another instance', () => {
  test('when the sessions that listen are cut again and again', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      await waitThroughCut(settled.second, () => database.query(CUT_LISTENERS));
    }
  });

  test('when every connection of its instance to the database is cut', async () => {
    for (let round = 0; round < ROUNDS / 5; round += 1) await waitThroughCut(remote, () => proxy.cut());
  });
});

test('an answer whose connection breaks before the commit is not acknowledged, and its retry counts', async () => {
  const { agent, ada, second } = settled;
  const { id } = await agent.ask(direct(ada));
  const idempotencyKey = randomUUID();
  const barrier = await raiseBarrier(settled.database.connection);
  const cut = ada.answer(id, 'yes', { idempotencyKey }).catch((error: unknown) => error);
  await barrier.waiting(1);
  await database.query(CUT_WHO_WAITS_FOR_A_LOCK);
  expect(isTurnedAway(await cut)).toBe(true);
  await barrier.release();
  expect((await agent.fetch(id)).state).toBe('pending');
  const retry = await ada.at(second).answer(id, 'yes', { idempotencyKey });
  expect(retry).toMatchObject({ applied: true, replayed: false });
});

describe('a change of who may do what, whose connection breaks, is turned away and breaks nothing else', () => {
  const changes: Record<string, (admin: Participant, member: string) => Promise<Response>> = {
    'somebody joins a room': (admin) => admin.send('PUT', '/v1/rooms/shaky/members/user:new'),
    'somebody leaves a room': (admin, member) => admin.send('DELETE', `/v1/rooms/shaky/members/${member}`),
    'a key is revoked': async (admin) => {
      const { keyId } = await admin.at(settled.second).newcomer('user:short', ['answer']);
      return await admin.send('DELETE', `/v1/keys/${keyId}`);
    },
  };

  test.each(Object.keys(changes))('when %s', async (change) => {
    const { admin, agent, ada, first } = settled;
    const [member] = (await roomOf(admin, 'shaky', 1)) as [Participant];
    const barrier = await raiseBarrier(
      settled.database.connection,
      'SELECT revision FROM access_revision FOR UPDATE',
    );
    const response = changes[change]?.(admin, member.subject).then(
      ({ status, headers }) => ({ status, retryAfter: headers.get('retry-after') }),
      (error: unknown) => ({ broken: String(error) }),
    );
    await eventually(async () => (await database.query(CUT_WHO_WAITS_FOR_A_LOCK)).rowCount === 1);
    await barrier.abandon();
    expect(await response).toEqual({ status: 503, retryAfter: expect.stringMatching(/^[1-9]\d*$/) });
    expect(first.child.exitCode).toBeNull();
    const { id } = await agent.ask(direct(ada));
    expect((await ada.answer(id)).applied).toBe(true);
  });
});
