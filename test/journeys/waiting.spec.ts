import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { House, type Question, successful } from '../support/journeys/house.js';
import { badFields, problem } from '../support/journeys/problems.js';

let house: House;
beforeAll(async () => {
  house = await House.open();
});
afterAll(() => house.close());

const wait = async (id: string, query = '', caller = house.people.asker) =>
  await successful<Question>(await house.get(`/v1/questions/${id}/wait${query}`, caller));
const waitAny = async (ids: readonly string[], query = '', caller = house.people.asker) =>
  (await successful<{ data: Question[] }>(await house.get(`/v1/questions/wait?ids=${ids}${query}`, caller)))
    .data;

/** How long it took, in milliseconds. */
async function timed<T>(work: () => Promise<T>): Promise<{ result: T; ms: number }> {
  const start = performance.now();
  return { result: await work(), ms: performance.now() - start };
}

describe('waiting for a question', () => {
  test('returns at once when it is settled', async () => {
    const { id } = await house.ask();
    const { question } = await house.answer(id);
    const { result, ms } = await timed(() => wait(id, '?timeout=60'));
    expect(result).toStrictEqual(question);
    expect(ms).toBeLessThan(5_000);
  });

  test.each(['answered', 'cancelled'])('returns when it is %s, with the same envelope', async (state) => {
    const { id } = await house.ask();
    const waiting = wait(id, '?timeout=60');
    const { question } = state === 'answered' ? await house.answer(id) : await house.cancel(id);
    const { result, ms } = await timed(() => waiting);
    expect(result).toStrictEqual(question);
    expect(result.state).toBe(state);
    expect(ms).toBeLessThan(5_000);
  });

  test('returns when it expires', async () => {
    const { id, expiresAt } = await house.ask({ expiresIn: 1 });
    const { result, ms } = await timed(() => wait(id, '?timeout=60'));
    expect(result).toMatchObject({ id, expiresAt, state: 'expired' });
    expect(ms).toBeLessThan(10_000);
  });

  test('returns the pending question after the timeout and changes nothing', async () => {
    const question = await house.ask();
    const { result, ms } = await timed(() => wait(question.id, '?timeout=1'));
    expect(result).toStrictEqual(question);
    expect(ms).toBeGreaterThanOrEqual(950);
    expect(await house.fetch(question.id)).toStrictEqual(question);
  });

  test('returns the pending question immediately with a timeout of zero', async () => {
    const question = await house.ask();
    const { result, ms } = await timed(() => wait(question.id, '?timeout=0'));
    expect(result).toStrictEqual(question);
    expect(ms).toBeLessThan(5_000);
  });

  test('tells several waiters, whoever they are, the same', async () => {
    const { id } = await house.ask();
    const { asker, ada, auditor, admin } = house.people;
    const waiting = Promise.all(
      [asker, asker, ada, auditor, admin].map((caller) => wait(id, '?timeout=60', caller)),
    );
    const { question } = await house.answer(id);
    expect(await waiting).toStrictEqual(Array(5).fill(question));
  });

  test('loses nothing when it is cut off', async () => {
    const { id } = await house.ask();
    const cut = new AbortController();
    const path = `/v1/questions/${id}/wait?timeout=60`;
    const cutOff = house
      .get(path, house.people.asker, { signal: cut.signal })
      .catch((error: Error) => error.name);
    // A wait that has returned shows that the one before it has been received.
    await wait(id, '?timeout=0');
    cut.abort();
    expect(await cutOff).toBe('AbortError');
    const other = wait(id, '?timeout=60');
    const { question } = await house.answer(id);
    expect(await other).toStrictEqual(question);
    expect(await wait(id)).toStrictEqual(question);
  });

  test('holds many waits at once', async () => {
    const { id } = await house.ask();
    const waiting = Promise.all(Array.from({ length: 200 }, () => wait(id, '?timeout=60')));
    const { question } = await house.answer(id);
    expect(new Set((await waiting).map((one) => JSON.stringify(one)))).toStrictEqual(
      new Set([JSON.stringify(question)]),
    );
  });

  test('falls back to thirty seconds', async () => {
    const { id } = await house.ask();
    const waiting = wait(id);
    const { question } = await house.answer(id);
    expect(await waiting).toStrictEqual(question);
  });

  test.each(['-1', '61', 'soon', '', 'Infinity', 'NaN', '1&timeout=2', '%00'])(
    'refuses the timeout %p',
    async (timeout) => {
      const { id } = await house.ask();
      const response = await house.get(`/v1/questions/${id}/wait?timeout=${timeout}`, house.people.asker);
      expect(await badFields(response)).toStrictEqual(['timeout']);
    },
  );

  test('is for those who see the question', async () => {
    const { id } = await house.ask();
    await problem(await house.get(`/v1/questions/${id}/wait?timeout=60`), 401);
    await problem(await house.get(`/v1/questions/${id}/wait?timeout=60`, house.people.bo), 404);
    await problem(await house.get('/v1/questions/nope/wait?timeout=60', house.people.asker), 404);
  });
});

describe('waiting for any of several questions', () => {
  test('returns at once those that are settled', async () => {
    const [one, two] = [await house.ask(), await house.ask()];
    const { question } = await house.answer(two.id);
    expect(await waitAny([one.id, two.id], '&timeout=60')).toStrictEqual([question]);
  });

  test('returns when the first settles', async () => {
    const questions = [await house.ask(), await house.ask(), await house.ask()];
    const waiting = waitAny(
      questions.map(({ id }) => id),
      '&timeout=60',
    );
    const { question } = await house.cancel(questions[1]?.id ?? '');
    expect(await waiting).toStrictEqual([question]);
  });

  test('returns none after the timeout', async () => {
    const { id } = await house.ask();
    const { result, ms } = await timed(() => waitAny([id], '&timeout=1'));
    expect(result).toStrictEqual([]);
    expect(ms).toBeGreaterThanOrEqual(950);
  });

  test('returns when one expires', async () => {
    const [one, two] = [await house.ask(), await house.ask({ expiresIn: 1 })];
    const found = await waitAny([one.id, two.id], '&timeout=60');
    expect(found).toMatchObject([{ id: two.id, state: 'expired' }]);
  });

  test('names a question once however often it is asked for', async () => {
    const { id } = await house.ask();
    const { question } = await house.answer(id);
    expect(await waitAny([id, id, id])).toStrictEqual([question]);
  });

  test('takes a hundred ids and no more', async () => {
    const { id } = await house.ask();
    const { question } = await house.answer(id);
    expect(await waitAny(Array(100).fill(id), '&timeout=0')).toStrictEqual([question]);
    const ids = Array.from({ length: 101 }, () => randomUUID());
    const response = await house.get(`/v1/questions/wait?ids=${ids}`, house.people.asker);
    expect(await badFields(response)).toStrictEqual(['ids']);
  });

  test.each(['', '?ids=', '?ids=,', '?timeout=1'])('needs ids: %p', async (query) => {
    const response = await house.get(`/v1/questions/wait${query}`, house.people.asker);
    expect((await badFields(response))[0]).toMatch(/^ids\b/);
  });

  test('finds nothing when one of them is not visible', async () => {
    const [mine, bos] = [await house.ask(), await house.ask({ scope: { kind: 'direct', user: 'user:bo' } })];
    await house.answer(mine.id);
    const path = `/v1/questions/wait?ids=${mine.id},${bos.id}&timeout=0`;
    await problem(await house.get(path, house.people.ada), 404);
    await problem(await house.get(path), 401);
  });
});
