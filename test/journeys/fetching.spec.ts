import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { House, type Question, successful } from '../support/journeys/house.js';
import { problem } from '../support/journeys/problems.js';

let house: House;
let asked: Question;
let answered: Question;
beforeAll(async () => {
  house = await House.open();
  asked = await house.ask();
  answered = (await house.answer(asked.id)).question;
});
afterAll(() => house.close());

const get = (query = '', headers: Record<string, string> = {}) =>
  house.get(`/v1/questions/${asked.id}${query}`, house.people.asker, { headers });
const at = (instant: string) => `?at=${encodeURIComponent(instant)}`;
const shifted = (instant: unknown, ms: number) => new Date(Date.parse(String(instant)) + ms).toISOString();

describe('fetching', () => {
  test('shows the asker, the target, an auditor and an admin the same envelope', async () => {
    const { asker, ada, auditor, admin } = house.people;
    for (const caller of [asker, ada, auditor, admin])
      expect(await house.fetch(asked.id, caller)).toStrictEqual(answered);
  });

  test('shows nobody else that the question exists', async () => {
    const stranger = await house.server.key('agent:other', ['ask', 'answer', 'webhooks']);
    for (const caller of [house.people.bo, stranger])
      await problem(await house.get(`/v1/questions/${asked.id}`, caller), 404);
  });

  test('tells the version as the entity tag', async () => {
    expect((await get()).headers.get('etag')).toBe('"2"');
    expect((await get('?version=1')).headers.get('etag')).toBe('"1"');
  });

  test.each(['"2"', 'W/"2"', '*', '"1", "2"'])(
    'answers 304 without a body to If-None-Match %s',
    async (tag) => {
      const response = await get('', { 'if-none-match': tag });
      expect([response.status, await response.text()]).toStrictEqual([304, '']);
      expect(response.headers.get('etag')).toBe('"2"');
    },
  );

  test.each(['"1"', '2x', '"22"'])('answers 200 to If-None-Match %s', async (tag) => {
    expect(await successful(await get('', { 'if-none-match': tag }))).toStrictEqual(answered);
  });

  test('shows each version as it stood', async () => {
    expect(await successful(await get('?version=1'))).toStrictEqual(asked);
    expect(await successful(await get('?version=2'))).toStrictEqual(answered);
  });

  test('knows no version that there never was', async () => {
    await problem(await get('?version=3'), 404);
  });

  test.each(['0', '-1', '1.5', 'x', '', '1e1', '9'.repeat(30), '%00', '1;DROP'])(
    'refuses version %p',
    async (version) => {
      await problem(await get(`?version=${version}`), 422);
    },
  );

  test('shows a question as it stood at a time', async () => {
    expect(await successful(await get(at(asked.askedAt)))).toStrictEqual(asked);
    expect(await successful(await get(at(shifted(answered.outcome?.at, -1))))).toStrictEqual(asked);
    expect(await successful(await get(at(String(answered.outcome?.at))))).toStrictEqual(answered);
    expect(await successful(await get(at(shifted(answered.outcome?.at, 60_000))))).toStrictEqual(answered);
  });

  test('takes a time with an offset', async () => {
    const instant = shifted(answered.outcome?.at, 2 * 3_600_000).replace('Z', '+02:00');
    expect(await successful(await get(at(instant)))).toStrictEqual(answered);
  });

  test('knows nothing of a time before it was asked', async () => {
    await problem(await get(at(shifted(asked.askedAt, -1_000))), 404);
  });

  test.each(['yesterday', '', '2026-13-01T00:00:00Z', '1700000000', '\u0000'])(
    'refuses the time %p',
    async (instant) => {
      await problem(await get(at(instant)), 422);
    },
  );

  test.each([
    'nope',
    '0',
    'null',
    '00000000-0000-0000-0000-000000000000',
    '0193aaaa-aaaa-7aaa-8aaa-aaaaaaaaaaaa',
    '0193aaaa-aaaa-7aaa-8aaa-aaaaaaaaaaaa%00',
    "' OR 1=1 --",
    '%F0%9F%98%80',
    'x'.repeat(3_000),
  ])('finds nothing under the id %p', async (id) => {
    await problem(await house.get(`/v1/questions/${id}`, house.people.asker), 404);
  });

  test('answers HEAD as GET without the body', async () => {
    const path = `/v1/questions/${asked.id}`;
    const response = await house.server.call('HEAD', path, { key: house.people.asker.key });
    expect([200, 405]).toContain(response.status);
    expect(await response.text()).toBe('');
  });

  test('needs a key that is known', async () => {
    const path = `/v1/questions/${asked.id}`;
    await problem(await house.get(path), 401);
    for (const authorization of [
      'Bearer nonsense',
      'Bearer ',
      'Basic dXNlcjpwYXNz',
      `bearer${house.people.asker.key}`,
    ])
      await problem(await house.get(path, undefined, { headers: { authorization } }), 401);
  });
});
