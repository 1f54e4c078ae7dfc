import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { eventually } from '../support/eventually.js';
import { whatWasSentHasArrived } from '../support/races/arrival.js';
import { InboxStream } from '../support/races/inbox-stream.js';
import { direct, type Instances, startInstances } from '../support/races/instances.js';
import { Participant, refusalOf } from '../support/races/participant.js';
import { proxyTo } from '../support/races/proxied-database.js';
import { SettledProcess } from '../support/settled-process.js';

const KEYS = 20;
const CONNECTIONS = 8;
/** Requests that were sent before a revocation; what becomes of them is open. */
const early: Promise<unknown>[] = [];
const UNAUTHENTICATED = { status: 401, code: 'unauthenticated' };

let settled: Instances;
beforeAll(async () => {
  settled = await startInstances();
});
afterEach(() => settled.assertOneStory());
afterAll(() => settled.stop());

async function revoke({ keyId }: { keyId: string }): Promise<void> {
  expect((await settled.admin.send('DELETE', `/v1/keys/${keyId}`)).status).toBe(204);
}

describe('a key that is revoked on one instance', () => {
  test('is refused on the other as soon as that is acknowledged, however much it is in use', async () => {
    const { admin, agent, second } = settled;
    const { id } = await agent.ask({ scope: { kind: 'direct', user: 'user:cy' } });
    const people = await Promise.all(
      Array.from({ length: KEYS }, () => admin.newcomer('user:cy', ['answer'])),
    );
    const after = await Promise.all(
      people.map(async (person) => {
        const there = person.at(second);
        let revoked = false;
        const statuses: number[] = [];
        const useIt = async () => {
          while (!revoked) statuses.push((await there.send('GET', `/v1/questions/${id}`)).status);
        };
        const using = useIt();
        await eventually(() => statuses.includes(200));
        await revoke(person);
        revoked = true;
        const refused = await refusalOf(there.fetch(id));
        await using;
        return refused;
      }),
    );
    expect(after).toEqual(after.map(() => UNAUTHENTICATED));
  });

  test('answers nothing any more on the other, and its inbox there ends', async () => {
    const { admin, agent, second } = settled;
    const { id } = await agent.ask({ scope: { kind: 'direct', user: 'user:di' } });
    const person = await admin.newcomer('user:di', ['answer']);
    const there = person.at(second);
    const inbox = await InboxStream.open(there);
    await inbox.told('ping', id);
    await revoke(person);
    expect(await refusalOf(there.answer(id))).toEqual(UNAUTHENTICATED);
    await eventually(() => inbox.ended, 1_000);
    expect((await agent.fetch(id)).state).toBe('pending');
  });

  test('is refused on the other when the database answers that one slowly', async () => {
    const { admin, agent, database, first } = settled;
    const proxy = await proxyTo(database);
    const slow = await SettledProcess.start({ DATABASE_URL: proxy.url, LOG_LEVEL: 'silent' }, first.adminKey);
    const client = new pg.Client(database.connection);
    await client.connect();
    try {
      const person = await admin.newcomer('user:eve', ['answer']);
      const there = person.at(slow);
      const { id } = await agent.ask(direct(person));
      await there.fetch(id);
      await openConnections(slow);
      proxy.freeze('replies');
      const { rows } = await client.query('SELECT clock_timestamp() AS at');
      // The database tells the slow instance that nothing was revoked, which does not arrive yet.
      await eventually(async () => {
        early.push(there.fetch(id).catch(() => undefined));
        return (await client.query(HAS_LOOKED, [proxy.name, rows[0]?.at])).rowCount === 1;
      });
      await revoke(person);
      const late = refusalOf(there.fetch(id));
      await whatWasSentHasArrived(slow);
      proxy.restore();
      expect(await late).toEqual(UNAUTHENTICATED);
    } finally {
      proxy.restore();
      await Promise.all(early);
      await client.end();
      await slow.stop();
      await proxy.stop();
    }
  });
});

/** A session of an instance has looked whether anything was revoked, since an instant. */
const HAS_LOOKED = `SELECT FROM pg_stat_activity WHERE application_name = $1 AND query LIKE '%access_revision%'
  AND state = 'idle' AND query_start > $2 LIMIT 1`;

/** Makes an instance look for keys on many connections at once, which then stay open. */
async function openConnections(instance: { url: string }): Promise<void> {
  const strangers = Array.from({ length: CONNECTIONS }, (_, index) => {
    return new Participant(instance.url, { subject: 'nobody', key: `unknown-${index}` });
  });
  await Promise.all(strangers.map((stranger) => refusalOf(stranger.get('/v1/questions'))));
}
