import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type EmbeddedServer, startEmbeddedServer } from '../support/embedded-server.js';
import { eventually } from '../support/eventually.js';
import { type Cast, cast, direct } from '../support/races/instances.js';
import { isTurnedAway, Ledger } from '../support/races/ledger.js';
import { Load } from '../support/races/load.js';
import { assertOneStory } from '../support/races/one-story.js';
import { SettledProcess } from '../support/settled-process.js';
import { startProxy, type TcpProxy } from '../support/tcp-proxy.js';

const RESTARTS = 2;
const ACKNOWLEDGED = 40;

let server: EmbeddedServer;
let proxy: TcpProxy;
let first: SettledProcess;
let second: SettledProcess;
let people: Cast;
beforeAll(async () => {
  server = await startEmbeddedServer();
  // The server may be elsewhere after a restart; the way to it stays.
  proxy = await startProxy(server);
  const { user, database, port } = proxy.connection;
  const environment = {
    DATABASE_URL: `postgresql://${user}@127.0.0.1:${port}/${database}`,
    LOG_LEVEL: 'silent',
  };
  first = await SettledProcess.start(environment);
  second = await SettledProcess.start(environment, first.adminKey);
  people = await cast(first);
});
afterAll(async () => {
  await Promise.all([first?.stop(), second?.stop()]);
  await proxy?.stop();
  await server?.stop();
});

/** How reads go while the database is away: each is served or turned away. */
async function readUntil(over: Promise<void>, id: string): Promise<Set<string>> {
  const seen = new Set<string>();
  let running = true;
  void over.finally(() => {
    running = false;
  });
  while (running) {
    const read = people.agent.at(second).fetch(id);
    seen.add(
      await read.then(
        () => 'served',
        (error: unknown) => (isTurnedAway(error) ? 'turned away' : String(error)),
      ),
    );
  }
  return seen;
}

test('while the database restarts requests are told to come back, and afterwards all goes on as before', async () => {
  const { agent, ada } = people;
  const ledger = new Ledger();
  const waitedFor = await agent.ask(direct(ada));
  const waits = [first, second].map((instance) => agent.at(instance).wait(waitedFor.id, 60));
  const load = new Load(people, ledger, [first, second]);
  for (let restart = 0; restart < RESTARTS; restart += 1) {
    await progress(ledger);
    const seen = await readUntil(server.restart(), waitedFor.id);
    expect(seen).toContain('turned away');
    expect([...seen].filter((how) => how !== 'served' && how !== 'turned away')).toEqual([]);
    await progress(ledger);
  }
  await load.stop();
  expect(ledger.turnedAway).toBeGreaterThan(0);

  const { question } = await ada.answer(waitedFor.id);
  expect(await Promise.all(waits)).toEqual([question, question]);
  await ledger.verify(agent.at(second));
  for (const { url } of [first, second]) {
    await eventually(async () => (await fetch(`${url}/readyz`)).status === 200);
  }
  await assertOneStory(server.connection);
});

async function progress(ledger: Ledger): Promise<void> {
  const before = ledger.acknowledged;
  await eventually(() => ledger.acknowledged >= before + ACKNOWLEDGED);
}
