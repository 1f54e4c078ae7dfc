import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { raiseBarrier } from '../support/barrier.js';
import { eventually } from '../support/eventually.js';
import { EventStream } from '../support/journeys/event-stream.js';
import { House, type Question, questionBody, successful } from '../support/journeys/house.js';

const WITHIN_MS = 10_000;

let house: House;
beforeEach(async () => {
  house = await House.open();
});
afterEach(() => house.close());

/** SIGTERM; how the process ended, and after how many milliseconds. */
async function terminated(): Promise<{ code: number | null; ms: number }> {
  const start = performance.now();
  const code = await house.server.stop();
  return { code, ms: performance.now() - start };
}

/** Returns when the server has received everything that was sent to it before. */
const received = async () => {
  for (let time = 0; time < 3; time += 1) await house.get('/healthz');
};

describe('on SIGTERM', () => {
  test('an idle server ends with 0', async () => {
    const { code, ms } = await terminated();
    expect(code).toBe(0);
    expect(ms).toBeLessThan(WITHIN_MS);
  });

  test('waits are released with the present state', async () => {
    const [one, two] = [await house.ask(), await house.ask()];
    const { asker, ada } = house.people;
    const waits = [
      house.get(`/v1/questions/${one.id}/wait?timeout=60`, asker),
      house.get(`/v1/questions/${one.id}/wait?timeout=60`, ada),
      house.get(`/v1/questions/${two.id}/wait?timeout=60`, asker),
    ];
    const any = house.get(`/v1/questions/wait?ids=${one.id},${two.id}&timeout=60`, asker);
    await received();
    const { code, ms } = await terminated();
    expect(
      await Promise.all(waits.map(async (wait) => await successful<Question>(await wait))),
    ).toStrictEqual([one, one, two]);
    expect(await successful(await any)).toStrictEqual({ data: [] });
    expect(code).toBe(0);
    expect(ms).toBeLessThan(WITHIN_MS);
  });

  test('streams end', async () => {
    const streams = [
      await EventStream.open(house, '/v1/inbox', house.people.ada),
      await EventStream.open(house, '/v1/events', house.people.auditor),
    ];
    const { code, ms } = await terminated();
    for (const stream of streams) await stream.end();
    expect(code).toBe(0);
    expect(ms).toBeLessThan(WITHIN_MS);
  });

  test('what is being done is finished and acknowledged', async () => {
    const barrier = await raiseBarrier(house.database.connection);
    const asking = house.post('/v1/questions', house.people.asker, questionBody());
    await barrier.waiting(1);
    const ending = terminated();
    await eventually(
      async () =>
        (await house.get('/readyz').then(
          (r) => r.status,
          () => 503,
        )) === 503,
    );
    await barrier.release();
    const { id } = await successful<Question>(await asking, 201);
    const { code, ms } = await ending;
    expect(code).toBe(0);
    expect(ms).toBeLessThan(WITHIN_MS);
    await house.restart();
    expect((await house.fetch(id)).state).toBe('pending');
  });

  test('work that never ends does not hold it for longer than ten seconds', async () => {
    const barrier = await raiseBarrier(house.database.connection);
    const asking = house.post('/v1/questions', house.people.asker, questionBody()).then(
      ({ status }) => status,
      () => 0,
    );
    await barrier.waiting(1);
    const { ms } = await terminated();
    await barrier.abandon();
    expect(ms).toBeLessThan(WITHIN_MS + 2_000);
    expect(await asking).not.toBe(201);
  });

  test('an open connection that sends nothing does not hold it', async () => {
    const { connect } = await import('node:net');
    const { hostname, port } = new URL(house.server.url);
    const socket = connect(Number(port), hostname);
    await new Promise((resolve) => socket.once('connect', resolve));
    socket.on('error', () => {});
    socket.write('POST /v1/questions HTTP/1.1\r\nhost: x\r\n');
    await received();
    const { code, ms } = await terminated();
    socket.destroy();
    expect(code).toBe(0);
    expect(ms).toBeLessThan(WITHIN_MS);
  });

  test('what was acknowledged is there at the next start', async () => {
    const questions = await Promise.all(Array.from({ length: 10 }, () => house.ask()));
    const settled = await Promise.all(questions.map(async ({ id }) => (await house.answer(id)).question));
    await house.restart();
    for (const question of settled) expect(await house.fetch(question.id)).toStrictEqual(question);
  });

  test('nothing is accepted afterwards', async () => {
    await terminated();
    await expect(house.get('/healthz')).rejects.toThrow();
  });
});
