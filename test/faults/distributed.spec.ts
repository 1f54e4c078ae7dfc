import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { describeWithKafka, kafkaEnvironment } from '../support/kafka.js';
import { type Cast, cast, direct } from '../support/races/instances.js';
import { type Instance, isCutOff, isTurnedAway, Ledger } from '../support/races/ledger.js';
import { Load } from '../support/races/load.js';
import { assertOneStory } from '../support/races/one-story.js';
import { assertPublishedOnce } from '../support/races/published.js';
import { readStoredLog } from '../support/races/stored-log.js';
import { type Program, SettledProcess } from '../support/settled-process.js';

const LONG = process.env.FAULTS === 'long';
const LOAD_MS = LONG ? 60_000 : 12_000;
const TIMEOUT_MS = LOAD_MS + 120_000;
/** How long a process is gone. */
const GONE_MS = 2_000;
/** A deadline is met by a consumer's timer, or by a sweep a second later. */
const EXPIRED_WITHIN_MS = 5_000;

describeWithKafka('three processes of questions and two of expiry', (kafka) => {
  let database: TestDatabase;
  let environment: ReturnType<typeof kafkaEnvironment> & Record<string, string>;
  let adminKey: string | undefined;
  const questions: SettledProcess[] = [];
  const expiry: SettledProcess[] = [];
  let people: Cast;
  beforeAll(async () => {
    database = await createTestDatabase();
    environment = { ...kafkaEnvironment(kafka()), DATABASE_URL: database.url, LOG_LEVEL: 'silent' };
    const first = await start('questions');
    adminKey = first.adminKey;
    questions.push(first, ...(await Promise.all([start('questions'), start('questions')])));
    expiry.push(...(await Promise.all([start('expiry'), start('expiry')])));
    people = await cast(first);
  });
  afterAll(async () => {
    await Promise.all([...questions, ...expiry].map((one) => one.stop()));
    await database?.drop();
  });

  function start(program: Program): Promise<SettledProcess> {
    return SettledProcess.start(environment, adminKey, program);
  }

  /** Kills one of them, whichever, and starts it again a little later. */
  async function killOneOf(processes: SettledProcess[], program: Program): Promise<void> {
    const index = Math.floor(Math.random() * processes.length);
    await processes[index]?.kill();
    await pause(GONE_MS);
    processes[index] = await start(program);
  }

  /** Asks at one, waits at another, answers at a third, until the signal; returns how many outcomes were waited for. */
  async function waitElsewhere(ledger: Ledger, ended: AbortSignal): Promise<number> {
    const { agent, ada } = people;
    let told = 0;
    for (let turn = 0; !ended.aborted; turn += 1) {
      const instance = (offset: number) => questions[(turn + offset) % questions.length] as Instance;
      const asked = await ledger.send((at) => agent.at(at).ask(direct(ada)), instance(0));
      if (asked === undefined) continue;
      const wait = agent.at(instance(1)).wait(asked.id).catch(unlessGone);
      const answered = await ada.at(instance(2)).answer(asked.id).catch(unlessGone);
      const outcome = answered === undefined ? undefined : await wait;
      if (outcome === undefined) continue;
      expect(outcome).toEqual(answered?.question);
      told += 1;
    }
    return told;
  }

  async function settleWhatIsOpen(agent: Cast['agent']): Promise<void> {
    const overdue = async () => {
      const { open } = await readStoredLog(database.connection);
      return open.filter(({ expiresAt }) => Date.parse(expiresAt) < Date.now());
    };
    await eventually(async () => (await overdue()).length === 0, EXPIRED_WITHIN_MS);
    const { open } = await readStoredLog(database.connection);
    for (const { id } of open) await agent.cancel(id);
  }

  test(
    `keep every promise for ${LOAD_MS / 1_000} seconds of load, in which one of each is killed`,
    async () => {
      const ledger = new Ledger();
      const load = new Load(people, ledger, questions);
      const ended = AbortSignal.timeout(LOAD_MS);
      const waited = waitElsewhere(ledger, ended);
      await pause(LOAD_MS / 4);
      await killOneOf(questions, 'questions');
      await pause(LOAD_MS / 4);
      await killOneOf(expiry, 'expiry');
      const told = await waited.finally(() => load.stop());
      expect(told).toBeGreaterThan(LOAD_MS / 1_000);
      const agent = people.agent.at(questions[0] as SettledProcess);
      await ledger.verify(agent);
      await settleWhatIsOpen(agent);
      await assertOneStory(database.connection);
      await assertPublishedOnce({ environment, connection: database.connection, agent });
      for (const one of [...questions, ...expiry]) {
        await eventually(async () => (await one.call('GET', '/readyz')).status === 200);
      }
    },
    TIMEOUT_MS,
  );
});

function unlessGone(error: unknown): undefined {
  if (!isTurnedAway(error) && !isCutOff(error)) throw error;
}
