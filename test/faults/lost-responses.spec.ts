import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { direct, type Instances, startInstances } from '../support/races/instances.js';
import type { Participant } from '../support/races/participant.js';
import { untilDone } from '../support/races/until-done.js';
import { startProxy, type TcpProxy } from '../support/tcp-proxy.js';

const ANSWERS = 200;
/** An answer takes a few milliseconds: aborts are spread over that and a little more. */
const ABORT_WITHIN_MS = 20;
const ROUNDS = 20;

let settled: Instances;
let proxy: TcpProxy;
let throughProxy: { url: string };
beforeAll(async () => {
  settled = await startInstances();
  const { hostname, port } = new URL(settled.first.url);
  proxy = await startProxy({ connection: { host: hostname, port: Number(port) } });
  throughProxy = { url: `http://127.0.0.1:${proxy.connection.port}` };
});
afterEach(() => settled.assertOneStory());
afterAll(async () => {
  await proxy.stop();
  await settled.stop();
});

const rounds = Array.from({ length: ROUNDS }, (_, round) => round);
const listed = (of: Participant) => of.get('/v1/questions?limit=200') as Promise<{ data: { id: string }[] }>;

describe('a client that goes away while it answers', () => {
  test('finds by a retry what was committed, or answers with it', async () => {
    const { agent, ada, second } = settled;
    const told = await Promise.all(
      Array.from({ length: ANSWERS }, async (_, index) => {
        const { id } = await agent.ask(direct(ada));
        const idempotencyKey = randomUUID();
        const going = new AbortController();
        const attempt = ada.answer(id, 'yes', { idempotencyKey, signal: going.signal });
        const aborted = attempt.then(
          () => false,
          () => true,
        );
        await pause((index / ANSWERS) * ABORT_WITHIN_MS);
        going.abort();
        const wasCut = await aborted;
        const retry = await untilDone(() => ada.at(second).answer(id, 'yes', { idempotencyKey }));
        return { retry, wasCut, outcome: await agent.fetch(id) };
      }),
    );
    for (const { retry, outcome } of told) expect(retry).toMatchObject({ applied: true, question: outcome });
    // Otherwise nobody went away in the middle of it.
    const cut = told.filter(({ wasCut }) => wasCut);
    expect(cut.some(({ retry }) => retry.replayed)).toBe(true);
  });
});

describe('a response that is lost on its way', () => {
  test('to an answer is given again to a retry, on either instance', async () => {
    const { agent, ada, first, second } = settled;
    for (const round of rounds) {
      const { id } = await agent.ask(direct(ada));
      const idempotencyKey = randomUUID();
      proxy.freeze('replies');
      const lost = ada.at(throughProxy).answer(id, 'yes', { idempotencyKey });
      const isLost = expect(lost).rejects.toThrow('fetch failed');
      const outcome = await agent.at(second).wait(id);
      proxy.cut();
      proxy.restore();
      await isLost;
      const again = ada.at(round % 2 === 0 ? first : second);
      // The first instance may not have heard of its own commit yet.
      const retry = await untilDone(() => again.answer(id, 'yes', { idempotencyKey }));
      expect(retry).toEqual({ applied: true, replayed: true, question: outcome });
    }
  });

  test('to an ask is given again to a retry, and nothing is asked twice', async () => {
    const { admin, ada, second } = settled;
    const asker = await admin.newcomer('agent:cut-off', ['ask']);
    for (const round of rounds) {
      const idempotencyKey = randomUUID();
      const body = { ...direct(ada), metadata: { round } };
      proxy.freeze('replies');
      const lost = asker.at(throughProxy).ask(body, { idempotencyKey });
      const isLost = expect(lost).rejects.toThrow('fetch failed');
      const [asked] = await eventually(async () => {
        const { data } = await listed(asker);
        return data.length > round && data;
      }).then((data) => data || []);
      proxy.cut();
      proxy.restore();
      await isLost;
      expect(await asker.at(second).ask(body, { idempotencyKey })).toEqual(asked);
    }
    expect((await listed(asker)).data).toHaveLength(ROUNDS);
  });
});
