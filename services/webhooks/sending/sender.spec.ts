import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type Socket, type Server as TcpServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { AddressPolicy } from './address-policy.js';
import { httpClient } from './http-client.js';
import { type Message, Sender } from './sender.js';
import { newWebhookSecret } from './signature.js';

const TIMEOUT_MS = 400;
const OPTIONS = { timeoutMs: TIMEOUT_MS, userAgent: 'Settled/test' };
const MIB = 1024 * 1024;

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

let server: Server;
let origin: string;
let answer: Answer;
let requests: {
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly socket: Socket;
}[];
beforeAll(async () => {
  server = createServer(async (request, response) => {
    requests.push({ headers: request.headers, body: await text(request), socket: request.socket });
    answer(request, response);
  });
  origin = `http://127.0.0.1:${await listening(server)}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

function listening(one: Server | TcpServer, address = '127.0.0.1', port = 0): Promise<number> {
  return new Promise((resolve) => {
    one.listen(port, address, () => resolve((one.address() as { port: number }).port));
  });
}

const secret = newWebhookSecret();

async function sendTo(url: string, change: Partial<Message['target']> = {}, allowed = ['127.0.0.0/8']) {
  const agent = httpClient(new AddressPolicy(allowed), TIMEOUT_MS);
  try {
    const target = { url, headers: {}, secrets: [secret], ...change };
    const message = { id: 'd1', body: '{"words":"Grüße"}', target };
    return await new Sender(agent, OPTIONS).send(message);
  } finally {
    await agent.destroy();
  }
}

async function sendAnd(answering: Answer, change: Partial<Message['target']> = {}) {
  requests = [];
  answer = answering;
  return await sendTo(`${origin}/hook?a=b`, change);
}

const ok: Answer = (_request, response) => response.end('fine');

describe('a message', () => {
  test('arrives signed, with its id, its own headers and the bytes of its body', async () => {
    const result = await sendAnd(ok, { headers: { Authorization: 'Bearer mine' } });
    expect(result).toMatchObject({ status: 200, error: null, response: { body: 'fine' } });
    const [{ headers, body } = { headers: {}, body: '' }] = requests;
    expect(headers).toMatchObject({
      'webhook-id': 'd1',
      'content-type': 'application/json',
      'user-agent': 'Settled/test',
      authorization: 'Bearer mine',
    });
    expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toEqual({ words: 'Grüße' });
  });

  test('goes over a connection of those before', async () => {
    const agent = httpClient(new AddressPolicy(['127.0.0.0/8']), TIMEOUT_MS);
    requests = [];
    answer = ok;
    const sender = new Sender(agent, OPTIONS);
    for (const id of ['1', '2', '3', '4', '5', '6', '7', '8']) {
      await sender.send({ id, body: '{}', target: { url: origin, headers: {}, secrets: [secret] } });
    }
    expect(new Set(requests.map(({ socket }) => socket)).size).toBeLessThanOrEqual(2);
    await agent.destroy();
  });
});

describe('a response', () => {
  test.each([200, 201, 202, 204, 299])('of %d is success', async (status) => {
    expect(await sendAnd((_, response) => response.writeHead(status).end())).toMatchObject({
      status,
      error: null,
    });
  });

  test.each([300, 301, 302, 304, 307, 308, 400, 401, 404, 410, 429, 500, 503])(
    'of %d is not',
    async (status) => {
      const result = await sendAnd((_, response) =>
        response.writeHead(status, { location: `${origin}/other` }).end(),
      );
      expect(result).toMatchObject({ status, error: `http_${status}` });
      expect(requests).toHaveLength(1);
    },
  );

  test.each([
    ['7', 7_000],
    [new Date(Date.now() + 60_000).toUTCString(), 60_000],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
    ['soon', undefined],
  ])('says when to come back: %s', async (value, ms) => {
    const { retryAfterMs } = await sendAnd((_, response) =>
      response.writeHead(429, { 'retry-after': value }).end(),
    );
    if (ms === undefined) expect(retryAfterMs).toBeUndefined();
    else expect(Math.abs((retryAfterMs ?? Number.NaN) - ms)).toBeLessThan(2_000);
  });

  test('of any length is read no further than it is worth', async () => {
    let sent = 0;
    const result = await sendAnd((_, response) => {
      const more = () => {
        while (!response.destroyed && sent < 50 * MIB && response.write('x'.repeat(65_536))) sent += 65_536;
      };
      response.on('drain', more);
      more();
    });
    expect(result).toMatchObject({ status: 200, error: null });
    expect(result.response?.body).toBe('x'.repeat(4_096));
    expect(sent).toBeLessThan(10 * MIB);
  });

  test('that is compressed is kept as it is', async () => {
    const bomb = gzipSync(Buffer.alloc(10 * MIB));
    const result = await sendAnd((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
    );
    expect(result.status).toBe(200);
    expect(Buffer.byteLength(result.response?.body ?? '')).toBeLessThan(3 * 4_096);
  });

  test('with zero bytes and broken text is kept as text', async () => {
    const result = await sendAnd((_, response) => response.end(Buffer.from([0x61, 0x00, 0xff, 0x62])));
    expect(result.response?.body).toBe('a\ufffd\ufffdb');
  });
});

describe('an attempt that gets no response', () => {
  test.each<[string, Answer]>([
    ['that never comes', () => {}],
    [
      'that drips',
      (_, response) => {
        const drip = setInterval(() => response.write('.'), 50);
        response.on('close', () => clearInterval(drip));
      },
    ],
  ])('%s ends at its deadline', async (_what, answering) => {
    const result = await sendAnd(answering);
    expect(result.error).toBe('timeout');
    expect(result.durationMs).toBeGreaterThanOrEqual(TIMEOUT_MS - 5);
    expect(result.durationMs).toBeLessThan(TIMEOUT_MS + 300);
  });

  test('says so when the connection is reset', async () => {
    const result = await sendAnd((request) => request.socket.resetAndDestroy());
    expect(result).toMatchObject({ status: null, error: 'connection_reset', response: null });
  });

  test('says so when nobody listens', async () => {
    expect(await sendTo('http://127.0.0.1:1/')).toMatchObject({ error: 'connection_refused' });
  });

  test('says so when there is no such name', async () => {
    expect(await sendTo('http://no-such-host.invalid/')).toMatchObject({ error: 'dns' });
  });

  test('says so when what answers speaks no HTTP', async () => {
    const nonsense = createTcpServer((socket) => socket.on('error', () => {}).end('nonsense\r\n\r\n'));
    const port = await listening(nonsense);
    expect(await sendTo(`http://127.0.0.1:${port}/`)).toMatchObject({ error: 'bad_response' });
    expect(await sendTo(`https://127.0.0.1:${port}/`)).toMatchObject({ error: 'tls' });
    nonsense.close();
  });
});

describe('an address that is not to be reached', () => {
  const hosts = ['127.0.0.1', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]', 'localhost', 'localhost.', '0'];

  test.each(hosts)('gets no connection: %s', async (host) => {
    let connections = 0;
    const forbidden = createTcpServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    const port = await listening(forbidden);
    expect(await sendTo(`http://${host}:${port}/`, {}, [])).toMatchObject({
      status: null,
      error: 'address_refused',
    });
    expect(connections).toBe(0);
    forbidden.close();
  });

  test('is refused by every answer for its name, and again when the connection is made', async () => {
    const names = { permits: (address: string) => address !== '127.0.0.1', refusalOf: () => undefined };
    const agent = httpClient(names, TIMEOUT_MS);
    requests = [];
    answer = ok;
    const sender = new Sender(agent, OPTIONS);
    const target = { headers: {}, secrets: [secret] };
    const { port } = new URL(origin);
    // A name is judged by its answers, an address that stands in the URL by the peer of its connection.
    for (const host of ['localhost', '127.0.0.1']) {
      const result = await sender.send({
        id: '1',
        body: '{}',
        target: { ...target, url: `http://${host}:${port}/` },
      });
      expect(result).toMatchObject({ error: 'address_refused' });
    }
    expect(requests).toEqual([]);
    await agent.destroy();
  });

  test('is not reached by a name that has become another address', async () => {
    const connections = { allowed: 0, forbidden: 0 };
    const allowed = createServer((_, response) => {
      connections.allowed += 1;
      response.setHeader('connection', 'close').end();
    });
    const port = await listening(allowed, '127.0.0.2');
    const forbidden = createTcpServer((socket) => {
      connections.forbidden += 1;
      socket.destroy();
    });
    await listening(forbidden, '127.0.0.1', port);
    const answers = [['127.0.0.2'], ['127.0.0.1'], ['127.0.0.2', '127.0.0.1']];
    const resolve = async () => (answers.shift() ?? []).map((address) => ({ address, family: 4 }));
    const agent = httpClient(new AddressPolicy(['127.0.0.2/32']), TIMEOUT_MS, resolve);
    const sender = new Sender(agent, OPTIONS);
    const target = { url: `http://rebinding.example:${port}/`, headers: {}, secrets: [secret] };
    const errors: (string | null)[] = [];
    for (const id of ['1', '2', '3']) errors.push((await sender.send({ id, body: '{}', target })).error);
    expect(errors).toEqual([null, 'address_refused', 'address_refused']);
    expect(connections).toEqual({ allowed: 1, forbidden: 0 });
    await agent.destroy();
    for (const server of [allowed, forbidden]) server.close();
  });

  test('is not reached by a redirect', async () => {
    const result = await sendAnd((_, response) =>
      response.writeHead(307, { location: 'http://169.254.169.254/' }).end(),
    );
    expect(result).toMatchObject({ status: 307, error: 'http_307' });
  });
});
