import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { House, questionBody, successful } from '../support/journeys/house.js';
import { type OpenApiDocument, pointerOf, SchemaJudge } from '../support/journeys/json-schema.js';

let house: House;
let document: OpenApiDocument;
beforeAll(async () => {
  house = await House.open();
  document = await successful<OpenApiDocument>(await house.get('/openapi.json'));
});
afterAll(() => house.close());

/** A path without the names of its parameters: those are the document's choice. */
const shape = (path: string) => path.replaceAll(/\{[^}]+\}/g, '{}');
const pathOf = (route: string) =>
  Object.keys(document.paths).find((path) => shape(path) === shape(route)) ?? route;

/** What is wrong with a real response by the document; its place there is found by route, method and status. */
async function faultsOf(route: string, method: string, response: Response): Promise<readonly string[]> {
  const path = pathOf(route);
  const responses = document.paths[path]?.[method]?.responses ?? {};
  const named = response.status in responses ? String(response.status) : 'default';
  const described = responses[named];
  if (described === undefined) return [`${method} ${route} has no ${response.status}`];
  const type = (response.headers.get('content-type') ?? '').replace(/;.*/, '');
  const text = await response.text();
  if (text === '') return [];
  if (described.content?.[type]?.schema === undefined)
    return [`${method} ${route} ${response.status} has no ${type}`];
  const place = ['paths', path, method, 'responses', named, 'content', type, 'schema'];
  return new SchemaJudge(document).faults(pointerOf(...place), JSON.parse(text));
}

describe('/openapi.json', () => {
  test('describes what the server really answers', async () => {
    const { asker, ada, bo, auditor, admin } = house.people;
    const { id } = await house.ask({
      context: 'c',
      metadata: { a: 1 },
      defaultOption: 'no',
      conversation: 'c',
      turn: 't',
    });
    const cancelled = await house.ask({ options: [], allowText: true });
    const texted = await house.ask({ allowText: true, allowSkip: true });
    await house.room('ops', ['user:ada']);
    const key = { key: admin.key };
    const real: [string, string, () => Promise<Response>][] = [
      ['/v1/questions', 'post', () => house.post('/v1/questions', asker, questionBody())],
      ['/v1/questions', 'post', () => house.post('/v1/questions', asker, {})],
      ['/v1/questions', 'post', () => house.post('/v1/questions', ada, {})],
      ['/v1/questions', 'post', () => house.post('/v1/questions', undefined, {})],
      ['/v1/questions', 'post', () => house.post('/v1/questions', asker, '{')],
      ['/v1/questions/{id}', 'get', () => house.get(`/v1/questions/${id}`, asker)],
      ['/v1/questions/{id}', 'get', () => house.get(`/v1/questions/${id}`, bo)],
      [
        '/v1/questions/{id}',
        'get',
        () => house.get(`/v1/questions/${id}`, asker, { headers: { 'if-none-match': '"1"' } }),
      ],
      [
        '/v1/questions/{id}/answer',
        'post',
        () => house.post(`/v1/questions/${id}/answer`, ada, { option: 'no' }),
      ],
      [
        '/v1/questions/{id}/answer',
        'post',
        () => house.post(`/v1/questions/${texted.id}/answer`, ada, { text: 'Well' }),
      ],
      [
        '/v1/questions/{id}/answer',
        'post',
        () => house.post(`/v1/questions/${cancelled.id}/answer`, ada, { option: 'x' }),
      ],
      [
        '/v1/questions/{id}/cancel',
        'post',
        () => house.post(`/v1/questions/${cancelled.id}/cancel`, asker, {}),
      ],
      ['/v1/questions/{id}/wait', 'get', () => house.get(`/v1/questions/${id}/wait?timeout=0`, asker)],
      ['/v1/questions/{id}/events', 'get', () => house.get(`/v1/questions/${id}/events`, auditor)],
      ['/v1/questions', 'get', () => house.get('/v1/questions?limit=2', asker)],
      ['/v1/questions', 'get', () => house.get('/v1/questions?limit=x', asker)],
      [
        '/v1/questions/wait',
        'get',
        () => house.get(`/v1/questions/wait?ids=${id},${cancelled.id}&timeout=0`, asker),
      ],
      ['/v1/events', 'get', () => house.get('/v1/events', auditor)],
      ['/v1/rooms/{room}', 'get', () => house.get('/v1/rooms/ops', admin)],
      ['/v1/rooms/{room}', 'put', () => house.server.call('PUT', '/v1/rooms/ops', key)],
      ['/v1/rooms/{room}', 'get', () => house.get('/v1/rooms/nowhere', admin)],
      [
        '/v1/rooms/{room}/members/{subject}',
        'put',
        () => house.server.call('PUT', '/v1/rooms/ops/members/x', key),
      ],
      [
        '/v1/rooms/{room}/members/{subject}',
        'delete',
        () => house.server.call('DELETE', '/v1/rooms/ops/members/x', key),
      ],
      ['/v1/keys', 'post', () => house.post('/v1/keys', admin, { subject: 'x', scopes: ['ask'] })],
      ['/v1/keys', 'get', () => house.get('/v1/keys', admin)],
      ['/v1/keys/{id}', 'delete', () => house.server.call('DELETE', '/v1/keys/nope', key)],
    ];
    for (const [route, method, response] of real)
      expect([route, method, await faultsOf(route, method, await response())]).toStrictEqual([
        route,
        method,
        [],
      ]);
  });
});
