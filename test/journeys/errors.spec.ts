import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { House, questionBody, successful } from '../support/journeys/house.js';
import { badFields, problem } from '../support/journeys/problems.js';
import { rawRequest } from '../support/journeys/raw-request.js';
import { ROUTES } from '../support/journeys/routes.js';

const LIMIT_BYTES = 64 * 1024;
const METHODS = ['GET', 'PUT', 'POST', 'PATCH', 'DELETE'];

let house: House;
let everything: string;
beforeAll(async () => {
  house = await House.open();
  everything = (await house.server.key('user:all', ['ask', 'answer', 'audit', 'webhooks', 'admin'])).key;
});
afterAll(() => house.close());

const raw = (
  method: string,
  path: string,
  more: { body?: string | Uint8Array; headers?: Record<string, string> } = {},
) => rawRequest(house.server.url, { method, path, key: everything, ...more });
/** A question that is valid but for its unknown field, which fills it to that many bytes. */
const sized = (bytes: number) => {
  const empty = JSON.stringify({ ...questionBody(), filler: '' });
  return JSON.stringify({ ...questionBody(), filler: 'x'.repeat(bytes - Buffer.byteLength(empty)) });
};

describe('a refusal', () => {
  test('is a problem with a status, a title, a detail and a code', async () => {
    const refusals: [Promise<Response>, number][] = [
      [house.get('/v1/questions'), 401],
      [house.get('/v1/keys', house.people.asker), 403],
      [house.get('/v1/questions/nope', house.people.asker), 404],
      [house.get('/nowhere', house.people.asker), 404],
      [house.get('/v1/nowhere', house.people.asker), 404],
      [raw('DELETE', '/v1/questions'), 405],
      [raw('POST', '/v1/questions', { body: '{' }), 400],
      [raw('POST', '/v1/questions', { body: '{}' }), 422],
      [raw('POST', '/v1/questions', { body: sized(LIMIT_BYTES + 1) }), 413],
      [raw('POST', '/v1/questions', { body: '{}', headers: { 'content-type': 'text/plain' } }), 415],
    ];
    const codes = [];
    for (const [response, status] of refusals) codes.push((await problem(await response, status)).code);
    expect(new Set(codes).size).toBeGreaterThanOrEqual(8);
  });

  test('of credentials says how to authenticate', async () => {
    for (const authorization of [
      '',
      'Bearer',
      'Bearer x',
      'Digest x',
      `Bearer ${everything} x`,
      `Bearer ${everything}x`,
    ]) {
      const response = await house.get('/v1/questions', undefined, { headers: { authorization } });
      expect(response.headers.get('www-authenticate')).toMatch(/^Bearer\b/);
      await problem(response, 401);
    }
  });

  test('does not repeat what it was given in secret', async () => {
    const secret = 'sk-a-secret-that-nobody-should-repeat';
    const response = await house.get('/v1/questions', { subject: 'x', key: secret });
    expect(await response.text()).not.toContain(secret);
  });

  test('of credentials comes before every other', async () => {
    const refusals: [string, string, string | undefined, string][] = [
      ['POST', '/v1/questions', '{', 'application/json'],
      ['POST', '/v1/questions', sized(LIMIT_BYTES + 1), 'application/json'],
      ['POST', '/v1/questions', 'x', 'text/plain'],
      ['POST', '/v1/questions/nope/answer', '{}', 'application/json'],
      ['GET', '/v1/questions?limit=x', undefined, 'application/json'],
    ];
    for (const [method, path, body, type] of refusals) {
      const headers = { 'content-type': type };
      await problem(
        await rawRequest(house.server.url, { method, path, headers, ...(body !== undefined && { body }) }),
        401,
      );
    }
  });
});

describe('a method that a route does not have', () => {
  test.each(Object.entries(ROUTES))('is 405 with Allow: %s', async (path, methods) => {
    for (const method of METHODS.filter((one) => !methods.includes(one))) {
      const response = await raw(method, path.replaceAll(/\{\w+\}/g, 'x'), { body: '{}' });
      const allow = (response.headers.get('allow') ?? '').split(/, */).sort();
      const allowed = allow.filter((one) => !['HEAD', 'OPTIONS'].includes(one));
      expect([method, response.status, allowed]).toStrictEqual([method, 405, [...methods].sort()]);
      await problem(response, 405);
    }
  });

  test.each(['TRACE', 'PROPFIND', 'OPTIONS'])('is no fault of the server: %s', async (method) => {
    const response = await raw(method, '/v1/questions');
    expect([200, 204, 404, 405]).toContain(response.status);
  });
});

describe('a body', () => {
  test.each([
    '{',
    '{"prompt": }',
    "{'prompt': 1}",
    '{"a":1,}',
    'undefined',
    'NaN',
    '{"a":1}{"b":2}',
    '{"a":"\n"}',
    '\u0000',
  ])('that is not JSON is 400: %p', async (body) => {
    await problem(await raw('POST', '/v1/questions', { body }), 400);
  });

  test('of 64 KiB is read', async () => {
    expect(await badFields(await raw('POST', '/v1/questions', { body: sized(LIMIT_BYTES) }))).toStrictEqual([
      'filler',
    ]);
  });

  test('of a byte more is 413', async () => {
    await problem(await raw('POST', '/v1/questions', { body: sized(LIMIT_BYTES + 1) }), 413);
  });

  test('without an announced length is measured as it comes', async () => {
    const headers = { 'transfer-encoding': 'chunked' };
    await problem(await raw('POST', '/v1/questions', { body: sized(LIMIT_BYTES + 1), headers }), 413);
  });

  test('is measured in bytes', async () => {
    const body = `{"prompt":"${'é'.repeat(LIMIT_BYTES / 2)}"}`;
    await problem(await raw('POST', '/v1/questions', { body }), 413);
  });

  test.each([
    'text/plain',
    'application/xml',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'json',
  ])('of another type is 415: %s', async (type) => {
    const body = JSON.stringify(questionBody());
    await problem(await raw('POST', '/v1/questions', { body, headers: { 'content-type': type } }), 415);
  });

  test.each(['application/json; charset=utf-8', 'Application/JSON', 'application/json;charset="UTF-8"'])(
    'is JSON, also spelt %s',
    async (type) => {
      const body = JSON.stringify(questionBody());
      await successful(await raw('POST', '/v1/questions', { body, headers: { 'content-type': type } }), 201);
    },
  );

  test('with fields that nobody knows is 422 on every route', async () => {
    const { id } = await house.ask({ scope: { kind: 'direct', user: 'user:all' } });
    const bodies: [string, object][] = [
      ['/v1/questions', { ...questionBody(), extra: 1 }],
      [`/v1/questions/${id}/answer`, { option: 'yes', extra: 1 }],
      [`/v1/questions/${id}/cancel`, { extra: 1 }],
      ['/v1/keys', { subject: 'x', scopes: ['ask'], extra: 1 }],
    ];
    for (const [path, body] of bodies)
      expect([path, await badFields(await raw('POST', path, { body: JSON.stringify(body) }))]).toStrictEqual([
        path,
        ['extra'],
      ]);
  });

  test('with a name of objects for a field is refused like any other', async () => {
    for (const name of ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty']) {
      const body = JSON.stringify(questionBody()).replace('{', `{"${name}":{"admin":true},`);
      expect(await badFields(await raw('POST', '/v1/questions', { body }))).toStrictEqual([name]);
    }
  });
});
