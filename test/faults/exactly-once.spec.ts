import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { describeWithKafka, kafkaEnvironment, type OwnBroker, ownBroker } from '../support/kafka.js';
import { figureOf } from '../support/metrics.js';
import { inLanes } from '../support/races/in-lanes.js';
import { type Cast, cast } from '../support/races/instances.js';
import { Ledger } from '../support/races/ledger.js';
import { Load } from '../support/races/load.js';
import { assertOneStory } from '../support/races/one-story.js';
import type { Participant } from '../support/races/participant.js';
import { assertPublishedOnce } from '../support/races/published.js';
import { readStoredLog } from '../support/races/stored-log.js';
import { type Program, SettledProcess } from '../support/settled-process.js';

/** `npm run test:faults` takes the long form. */
const LONG = process.env.FAULTS === 'long';
const QUESTIONS = LONG ? 5_000 : 300;
const KILLS = LONG ? 30 : 4;
const BROKER_RESTARTS = LONG ? 2 : 1;
const TIMEOUT_MS = LONG ? 900_000 : 180_000;
const LOAD_TIMEOUT_MS = TIMEOUT_MS / 2;
const LONGEST_PAUSE_BEFORE_A_KILL_MS = 1_500;

describeWithKafka('publication, whatever is killed and when', () => {
  let broker: OwnBroker;
  let database: TestDatabase;
  let environment: ReturnType<typeof kafkaEnvironment> & Record<string, string>;
  /** Each of them is the relay or stands by. */
  const serving: SettledProcess[] = [];
  let expiry: SettledProcess | undefined;
  let people: Cast;
  beforeAll(async () => {
    [broker, database] = await Promise.all([ownBroker(), createTestDatabase()]);
    environment = { ...kafkaEnvironment(broker), DATABASE_URL: database.url, LOG_LEVEL: 'silent' };
    const first = await start('questions');
    serving.push(first, await start('questions', first.adminKey));
    expiry = await start('expiry');
    people = await cast(first);
  });
  afterAll(async () => {
    await Promise.all([...serving, expiry].map((one) => one?.stop()));
    await broker?.stop();
    await database?.drop();
  });

  function start(program: Program, adminKey?: string): Promise<SettledProcess> {
    return SettledProcess.start(environment, adminKey, program);
  }

  /** The relay, or whichever while none leads. */
  async function killOne(): Promise<void> {
    await pause(Math.random() * LONGEST_PAUSE_BEFORE_A_KILL_MS);
    const leads = await Promise.all(serving.map((one) => figureOf(one, 'settled_relay_leader')));
    const index = leads.includes(1) ? leads.indexOf(1) : Math.floor(Math.random() * serving.length);
    const victim = serving[index] as SettledProcess;
    await victim.kill();
    serving[index] = await start('questions', victim.adminKey);
  }

  async function trouble(): Promise<void> {
    const everySoManyKills = Math.ceil(KILLS / (BROKER_RESTARTS + 1));
    for (let kill = 1; kill <= KILLS; kill += 1) {
      await killOne();
      if (kill % everySoManyKills > 0 || kill === KILLS) continue;
      await broker.kill();
      await killOne();
      await broker.restart();
    }
  }

  /** What was asked while the server went away was settled by nobody. */
  async function settleWhatIsOpen(agent: Participant): Promise<void> {
    const { open } = await readStoredLog(database.connection);
    await inLanes(open, ({ id }) => agent.cancel(id));
    expect((await readStoredLog(database.connection)).open).toEqual([]);
  }

  test(
    `${QUESTIONS} questions, ${KILLS} kills, ${BROKER_RESTARTS} restarts of the broker: each event once, in order`,
    async () => {
      const ledger = new Ledger();
      const load = new Load(people, ledger, serving);
      await trouble();
      await eventually(() => ledger.acknowledged >= QUESTIONS * 1.75, LOAD_TIMEOUT_MS);
      await load.stop();
      const [instance] = serving as [SettledProcess];
      const agent = people.agent.at(instance);
      await ledger.verify(agent);
      await settleWhatIsOpen(agent);
      await assertOneStory(database.connection);
      const { views } = await readStoredLog(database.connection);
      expect(views.length).toBeGreaterThanOrEqual(QUESTIONS);
      await assertPublishedOnce({ environment, connection: database.connection, agent });
    },
    TIMEOUT_MS,
  );
});
