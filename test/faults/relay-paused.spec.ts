import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { describeWithKafka, kafkaEnvironment } from '../support/kafka.js';
import { figureOf } from '../support/metrics.js';
import { type Cast, cast } from '../support/races/instances.js';
import { Ledger } from '../support/races/ledger.js';
import { Load } from '../support/races/load.js';
import { assertPublishedOnce } from '../support/races/published.js';
import { SettledProcess } from '../support/settled-process.js';

const LEASE_AND_MORE_MS = 30_000;
const TIMEOUT_MS = 120_000;
/** What the load settles while nobody, then while another leads. */
const SOME = 200;

describeWithKafka('a relay that is paused for longer than its lease', (kafka) => {
  let database: TestDatabase;
  let environment: ReturnType<typeof kafkaEnvironment> & Record<string, string>;
  let leader: SettledProcess;
  let standby: SettledProcess;
  let people: Cast;
  beforeAll(async () => {
    database = await createTestDatabase();
    environment = { ...kafkaEnvironment(kafka()), DATABASE_URL: database.url, LOG_LEVEL: 'silent' };
    leader = await SettledProcess.start(environment, undefined, 'questions');
    await eventually(() => leads(leader));
    standby = await SettledProcess.start(environment, leader.adminKey, 'questions');
    people = await cast(standby);
  });
  afterAll(async () => {
    leader?.child.kill('SIGCONT');
    await Promise.all([leader?.stop(), standby?.stop()]);
    await database?.drop();
  });

  const leads = async (one: SettledProcess) => (await figureOf(one, 'settled_relay_leader')) === 1;

  test(
    'loses the lead, and publishes nothing more when it goes on',
    async () => {
      const ledger = new Ledger();
      const load = new Load(people, ledger, [standby]);
      const more = async (count: number) => {
        const goal = ledger.acknowledged + count;
        await eventually(() => ledger.acknowledged >= goal);
      };
      await more(SOME);
      // Most likely in the middle of a transaction.
      leader.child.kill('SIGSTOP');
      await more(SOME);
      await eventually(() => leads(standby), LEASE_AND_MORE_MS);
      leader.child.kill('SIGCONT');
      await eventually(async () => !(await leads(leader)));
      await more(SOME);
      await load.stop();
      expect(await leads(standby)).toBe(true);
      const { connection } = database;
      await assertPublishedOnce({ environment, connection, agent: people.agent.at(standby) });
    },
    TIMEOUT_MS,
  );
});
