import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { embeddedConnection, killWithDatabase } from '../support/races/embedded-cluster.js';
import { type Cast, cast } from '../support/races/instances.js';
import { Ledger } from '../support/races/ledger.js';
import { Load } from '../support/races/load.js';
import { assertOneStory } from '../support/races/one-story.js';
import { SettledProcess } from '../support/settled-process.js';

/** Acknowledgements before each crash. */
const ACKNOWLEDGED = 40;

let dataDir: string;
let settled: SettledProcess;
let people: Cast;
let ledger: Ledger;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'settled-crash-'));
  settled = await start();
  people = await cast(settled);
  ledger = new Ledger();
});
afterEach(() => assertOneStory(embeddedConnection(dataDir)));
afterAll(async () => {
  await settled.stop();
  await rm(dataDir, { recursive: true, force: true });
});

function start(adminKey?: string): Promise<SettledProcess> {
  return SettledProcess.start({ DATA_DIR: dataDir, LOG_LEVEL: 'silent' }, adminKey);
}

/** Crashes in the middle of a load, starts again, and holds the server to what it has acknowledged, ever. */
async function crashUnderLoad(crash: () => Promise<void>): Promise<void> {
  const before = ledger.acknowledged;
  const load = new Load(people, ledger, [settled]);
  await eventually(() => ledger.acknowledged >= before + ACKNOWLEDGED);
  await crash();
  await load.stop();
  settled = await start(settled.adminKey);
  await ledger.verify(people.agent.at(settled));
  await assertOneStory(embeddedConnection(dataDir));
}

describe('every acknowledgement holds', () => {
  test('after Settled and its database were killed under load, five times', async () => {
    for (let crash = 0; crash < 5; crash += 1) {
      await crashUnderLoad(() => killWithDatabase(settled, dataDir));
    }
  });

  test('after Settled alone was killed under load, three times', async () => {
    for (let crash = 0; crash < 3; crash += 1) await crashUnderLoad(() => settled.kill());
  });
});

test('a question whose deadline passes while everything is down is expired at the restart', async () => {
  const { agent, ada } = people;
  const scope = { kind: 'direct', user: ada.subject };
  const { id, expiresAt } = await agent.at(settled).ask({ scope, expiresIn: 1 });
  await killWithDatabase(settled, dataDir);
  await eventually(() => Date.now() > Date.parse(expiresAt));
  settled = await start(settled.adminKey);
  const question = await agent.at(settled).fetch(id);
  expect(question.state).toBe('expired');
  expect((await ada.at(settled).answer(id)).question).toEqual(question);
});
