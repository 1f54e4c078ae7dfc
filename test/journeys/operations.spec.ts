import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { House, questionBody, successful } from '../support/journeys/house.js';
import { problem } from '../support/journeys/problems.js';
import { startProxy, type TcpProxy } from '../support/tcp-proxy.js';

let proxy: TcpProxy;
let house: House;
beforeAll(async () => {
  house = await House.open();
});
afterAll(() => house.close());

describe('operations need no key:', () => {
  test('/healthz says that the process is alive', async () => {
    expect((await house.get('/healthz')).status).toBe(200);
  });

  test('/readyz says that everything is ready', async () => {
    await eventually(async () => (await house.get('/readyz')).status === 200);
  });

  test('/metrics are for Prometheus', async () => {
    await house.ask();
    const response = await house.get('/metrics');
    expect([response.status, response.headers.get('content-type')]).toStrictEqual([
      200,
      expect.stringMatching(/^(text\/plain|application\/openmetrics-text)\b/),
    ]);
    const lines = (await response.text()).split('\n').filter((line) => line !== '');
    const comment = /^# (HELP|TYPE|UNIT|EOF)/;
    const sample =
      /^[a-zA-Z_:][\w:]*(\{([a-zA-Z_]\w*="([^"\\]|\\.)*",?)*\})? (-?[\d.]+([eE][+-]?\d+)?|[+-]Inf|NaN)( \d+)?$/;
    expect(lines.filter((line) => !comment.test(line) && !sample.test(line))).toStrictEqual([]);
    expect(lines.length).toBeGreaterThan(10);
  });

  test('/metrics do not grow with what is asked for', async () => {
    const { id } = await house.ask();
    await house.fetch(id);
    for (const path of [`/v1/nowhere/${id}`, `/${id}`, `/v1/rooms/${id}`])
      await house.get(path, house.people.admin);
    expect(await (await house.get('/metrics')).text()).not.toContain(id);
  });

  test('/docs is a page', async () => {
    const response = await house.get('/docs');
    expect(response.headers.get('content-type')).toMatch(/^text\/html\b/);
    expect((await successfulText(response)).toLowerCase()).toContain('<html');
  });

  test('/docs refers to what the server itself serves', async () => {
    const response = await house.get('/docs');
    const page = await response.text();
    const references = [...page.matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, reference]) => reference ?? '');
    expect(references.length).toBeGreaterThan(0);
    for (const reference of references.filter((one) => !one.startsWith('data:'))) {
      const url = new URL(reference, response.url);
      expect(url.origin).toBe(new URL(house.server.url).origin);
      expect([url.pathname, (await fetch(url)).status]).toStrictEqual([url.pathname, 200]);
    }
  });

  test('a key that is wrong does no harm there', async () => {
    for (const path of ['/healthz', '/readyz', '/metrics', '/openapi.json', '/docs'])
      expect([path, (await house.get(path, { subject: 'x', key: 'wrong' })).status]).toStrictEqual([
        path,
        200,
      ]);
  });
});

const successfulText = async (response: Response) => {
  expect(response.status).toBe(200);
  return await response.text();
};

describe('while the database cannot be reached', () => {
  let behind: House;
  beforeAll(async () => {
    // The environment's address of the database comes after the house's own and wins.
    proxy = await startProxy(house.database);
    const { user, database } = house.database.connection;
    const { host, port } = proxy.connection;
    behind = await House.open({ DATABASE_URL: `postgresql://${user}@${host}:${port}/${database}` });
  });
  afterAll(async () => {
    proxy.restore();
    await behind.close();
    await proxy.stop();
  });

  test('requests are told 503 and when to come again; the process lives, says what is missing, and recovers', async () => {
    const { id } = await behind.ask();
    proxy.refuse();
    const requests = [
      () => behind.get(`/v1/questions/${id}`, behind.people.asker),
      () => behind.get('/v1/questions', behind.people.asker),
      () => behind.post('/v1/questions', behind.people.asker, questionBody()),
      () => behind.post(`/v1/questions/${id}/answer`, behind.people.ada, { option: 'yes' }),
      () => behind.get('/v1/events', behind.people.auditor),
    ];
    for (const request of requests) {
      const response = await request();
      expect(response.headers.get('retry-after')).toMatch(/^\d+$/);
      await problem(response, 503);
    }
    expect((await behind.get('/healthz')).status).toBe(200);
    await eventually(async () => (await behind.get('/readyz')).status === 503);
    expect((await (await behind.get('/readyz')).text()).toLowerCase()).toContain('database');
    proxy.restore();
    await eventually(async () => (await behind.get('/readyz')).status === 200);
    expect((await behind.answer(id)).applied).toBe(true);
    await successful(await behind.get(`/v1/questions/${id}`, behind.people.asker));
  });
});
