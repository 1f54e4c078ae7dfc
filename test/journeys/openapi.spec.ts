import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { House, questionBody, successful } from '../support/journeys/house.js';
import {
  type OpenApiDocument,
  type Operation,
  pointerOf,
  SchemaJudge,
} from '../support/journeys/json-schema.js';
import { ROUTES } from '../support/journeys/routes.js';

const METHODS = ['get', 'put', 'post', 'patch', 'delete'];

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
const operations = () =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) =>
      item[method] ? [[path, method, item[method]] as [string, string, Operation]] : [],
    ),
  );

describe('/openapi.json', () => {
  test('is OpenAPI 3.1', () => {
    expect(document.openapi).toMatch(/^3\.1\.\d+$/);
    expect(document.info).toMatchObject({
      title: expect.stringMatching(/\S/),
      version: expect.stringMatching(/\S/),
    });
    for (const [path, method, operation] of operations()) {
      expect(path).toMatch(/^\//);
      expect(Object.keys(operation.responses).length).toBeGreaterThan(0);
      for (const [status, { description }] of Object.entries(operation.responses)) {
        expect(status).toMatch(/^([1-5](\d\d|XX)|default)$/);
        expect([method, path, status, typeof description]).toStrictEqual([method, path, status, 'string']);
      }
    }
  });

  test.each(Object.entries(ROUTES).filter(([path]) => path.startsWith('/v1')))(
    'names %s with its methods',
    (route, methods) => {
      const item = document.paths[pathOf(route)] ?? {};
      const named = METHODS.filter((method) => method in item).map((method) => method.toUpperCase());
      expect(named.sort()).toStrictEqual([...methods].sort());
    },
  );

  test('names no operation twice', () => {
    const ids = operations()
      .map(([, , { operationId }]) => operationId)
      .filter((id) => id !== undefined);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('declares every parameter of every path', () => {
    for (const [path, method, { parameters = [] }] of operations()) {
      const declared = parameters.filter((one) => one.in === 'path').map(({ name }) => name);
      const named = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name);
      expect([method, path, declared.sort()]).toStrictEqual([method, path, named.sort()]);
    }
  });

  test('has only schemas that can be used, and references that lead somewhere', () => {
    const judge = new SchemaJudge(document);
    for (const [path, method, { requestBody, responses }] of operations()) {
      for (const type of Object.keys(requestBody?.content ?? {}))
        judge.compiles(pointerOf('paths', path, method, 'requestBody', 'content', type, 'schema'));
      for (const [status, { content = {} }] of Object.entries(responses))
        for (const [type, { schema }] of Object.entries(content))
          if (schema)
            judge.compiles(pointerOf('paths', path, method, 'responses', status, 'content', type, 'schema'));
    }
    for (const name of Object.keys(document.components?.schemas ?? {}))
      judge.compiles(pointerOf('components', 'schemas', name));
  });

  test('says how to authenticate', () => {
    const schemes = Object.values(document.components?.securitySchemes ?? {});
    expect(schemes).toContainEqual(expect.objectContaining({ type: 'http', scheme: 'bearer' }));
  });

  test('describes the requests that are accepted and not those that are refused', () => {
    const judge = new SchemaJudge(document);
    const place = pointerOf(
      'paths',
      '/v1/questions',
      'post',
      'requestBody',
      'content',
      'application/json',
      'schema',
    );
    const good = [
      {},
      { expiresIn: 60 },
      { metadata: { a: [1] } },
      { scope: { kind: 'room', room: 'ops' } },
      { context: '#' },
    ];
    for (const change of good) expect(judge.faults(place, questionBody(change))).toStrictEqual([]);
    const bad = [
      { prompt: undefined },
      { prompt: '' },
      { expiresIn: 0 },
      { extra: 1 },
      { scope: { kind: 'x' } },
      { metadata: [] },
    ];
    for (const change of bad) {
      const sent = JSON.parse(JSON.stringify(questionBody(change))) as unknown;
      expect([change, judge.faults(place, sent).length > 0]).toStrictEqual([change, true]);
    }
  });
});
