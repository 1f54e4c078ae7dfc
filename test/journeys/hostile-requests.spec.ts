import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { House, type Question, successful } from '../support/journeys/house.js';
import { problem } from '../support/journeys/problems.js';
import { type RawRequest, rawRequest } from '../support/journeys/raw-request.js';

let house: House;
let key: string;
let question: Question;
beforeAll(async () => {
  house = await House.open();
  key = (await house.server.key('user:all', ['ask', 'answer', 'audit', 'webhooks', 'admin'])).key;
  question = await house.ask();
  await house.room('ops');
});
afterAll(() => house.close());

/** Sends a request as it is; requests of others that run in the same instant succeed. */
async function hostile(path: string, more: Partial<RawRequest> = {}): Promise<Response> {
  const [response, asked, fetched] = await Promise.all([
    rawRequest(house.server.url, { path, key, ...more }),
    house.ask(),
    house.fetch(question.id),
  ]);
  expect([asked.state, fetched]).toStrictEqual(['pending', question]);
  return response;
}

const NONSENSE = ['%', '%zz', '%00', '%ff', '%c0%af', '%ed%a0%80', '%E0%A4%A', '%0d%0aX:1'];
const LONG = ['x'.repeat(201), 'x'.repeat(5_000), '%41'.repeat(3_000)];

describe('nonsense in a path', () => {
  test.each(NONSENSE)('names no question: %s', async (id) => {
    for (const [method, suffix] of [
      ['GET', ''],
      ['GET', '/wait?timeout=0'],
      ['GET', '/events'],
      ['POST', '/answer'],
      ['POST', '/cancel'],
    ] as const)
      await problem(
        await hostile(`/v1/questions/${id}${suffix}`, { method, ...(method === 'POST' && { body: '{}' }) }),
        [400, 404],
      );
  });

  test.each(NONSENSE)('names no room, member or key: %s', async (name) => {
    await problem(await hostile(`/v1/rooms/${name}`), [400, 404, 422]);
    await problem(await hostile(`/v1/rooms/${name}`, { method: 'PUT' }), [400, 404, 422]);
    await problem(await hostile(`/v1/rooms/ops/members/${name}/x`, { method: 'PUT' }), [400, 404]);
    await problem(await hostile(`/v1/keys/${name}`, { method: 'DELETE' }), [400, 404]);
  });

  test.each(LONG)('however long it is: %p', async (id) => {
    await problem(await hostile(`/v1/questions/${id}`), 404);
    await problem(await hostile(`/v1/keys/${id}`, { method: 'DELETE' }), 404);
    await problem(await hostile(`/v1/rooms/${id}`, { method: 'PUT' }), [404, 422]);
    await problem(await hostile(`/v1/rooms/ops/members/${id}`, { method: 'PUT' }), [404, 422]);
  });

  test.each([
    '//',
    '/v1//questions',
    '/v1/questions//',
    '/V1/questions',
    '/v1/questions/../keys',
    '/v1',
    '/v1/',
    '/%',
    '/.env',
    '/docs/../../etc/passwd',
    '/docs/%2e%2e%2f%2e%2e%2fpackage.json',
  ])('leads nowhere: %s', async (path) => {
    await problem(await hostile(path), [400, 404]);
  });

  test('a question is found under its id alone', async () => {
    const { id } = question;
    for (const other of [
      `${id}%20`,
      `%20${id}`,
      `${id}x`,
      id.slice(0, -1),
      `${id}%00`,
      `{${id}}`,
      id.replaceAll('-', ''),
    ])
      await problem(await hostile(`/v1/questions/${other}`), 404);
  });
});

describe('nonsense in a query', () => {
  test.each([
    '/v1/questions?limit=1&limit=2',
    '/v1/questions?cursor=a&cursor=b',
    '/v1/questions?state=pending&state=pending',
    '/v1/questions?room=a&room=b',
    '/v1/questions?user[$ne]=x&limit=0',
    '/v1/questions?limit=0x10',
    '/v1/questions?limit=+1',
    '/v1/questions?limit=%31%00',
    '/v1/questions?limit=99999999999999999999',
    '/v1/questions?user=%00',
    '/v1/questions?conversation=a%00',
    '/v1/questions?cursor=%00',
    '/v1/questions?cursor=%F0%9F%98%80',
    `/v1/questions?cursor=${'A'.repeat(4_000)}`,
    '/v1/questions/wait?ids=nope%00&timeout=x',
    '/v1/events?after=1&after=2',
    '/v1/events?after=%00',
    '/v1/events?after=1%20OR%201=1',
    '/v1/events?limit=1&limit=1',
  ])('is 422: %s', async (path) => {
    await problem(await hostile(path), 422);
  });

  test.each(['%', '%zz', '%ff', '%c0%af', '%ed%a0%80'])('is no fault of the server: %s', async (text) => {
    for (const name of ['user', 'cursor', 'room', 'asker', 'state']) {
      const response = await hostile(`/v1/questions?${name}=${text}`);
      if (response.status !== 200) await problem(response, [400, 422]);
    }
  });

  test.each(['__proto__=1', '__proto__[x]=1', 'constructor=1', 'toString=1'])(
    'does not reach objects: %s',
    async (query) => {
      const response = await hostile(`/v1/questions?${query}`);
      if (response.status !== 200) await problem(response, 422);
    },
  );

  test('of ids of questions finds nothing', async () => {
    for (const ids of ['nope', `${question.id}%00`, '%00', `${question.id};`, 'x'.repeat(5_000)])
      await problem(await hostile(`/v1/questions/wait?ids=${ids}&timeout=0`), [404, 422]);
  });
});

describe('nonsense in headers', () => {
  test.each(['"', '""', 'W/', '\u00ff', '"2', ','.repeat(2_000), '"x",'.repeat(2_000)])(
    'matches no entity: %p',
    async (tag) => {
      const response = await hostile(`/v1/questions/${question.id}`, { headers: { 'if-none-match': tag } });
      expect(await successful(response)).toStrictEqual(question);
    },
  );

  test.each(['-1', 'x', '1.5', '9'.repeat(40), '\u00ff', '1 OR 1=1'])(
    'is no place to resume from: %p',
    async (id) => {
      const headers = { accept: 'text/event-stream', 'last-event-id': id };
      for (const path of ['/v1/events', '/v1/inbox']) await problem(await hostile(path, { headers }), 422);
    },
  );

  test.each([
    '',
    ' ',
    'Bearer',
    'Bearer  ',
    'Bearer \u00ff',
    'Bearer a b',
    `Bearer ${'x'.repeat(8_000)}`,
    'Basic !!!',
  ])('is no key: %p', async (authorization) => {
    await problem(await hostile('/v1/questions', { headers: { authorization } }), 401);
  });

  test.each(['text/html', 'image/*', '*/*', '', ';;;', 'x'.repeat(3_000)])(
    'does not make the feed fail: Accept %p',
    async (accept) => {
      const response = await hostile('/v1/events', { headers: { accept } });
      if (response.status === 200)
        expect(response.headers.get('content-type')).toMatch(/^application\/json\b/);
      else await problem(response, 406);
    },
  );
});
