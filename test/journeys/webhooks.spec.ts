import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Envelope } from '#contracts';
import { eventually } from '../support/eventually.js';
import { successful } from '../support/journeys/house.js';
import { Hooks } from '../support/webhooks/hooks.js';
import { answering, Receiver } from '../support/webhooks/receiver.js';

let hooks: Hooks;
let receiver: Receiver;
beforeAll(async () => {
  hooks = await Hooks.open();
});
afterAll(() => hooks.close());
beforeEach(async () => {
  receiver = await Receiver.start();
});
afterEach(async () => {
  // What one test made is nothing to the next one.
  const { data } = await successful<{ data: { id: string }[] }>(await hooks.call('GET', '/v1/webhooks'));
  for (const { id } of data) await hooks.call('DELETE', `/v1/webhooks/${id}`);
  receiver.stop();
});

const ALL = ['question.asked', 'question.answered', 'question.expired', 'question.cancelled'];

describe('a webhook', () => {
  test('is told of every event that it wants, signed, with the envelope, in bytes that verify', async () => {
    const { id: webhook, secret } = await hooks.create(receiver.url, {
      events: ALL,
      headers: { 'X-Mine': 'yes' },
    });
    const answered = await hooks.settle();
    await hooks.house.cancel((await hooks.house.ask()).id);
    await hooks.house.ask({ expiresIn: 1 });
    await eventually(() => receiver.received.length === 6);
    expect(receiver.types.toSorted()).toEqual([...ALL, 'question.asked', 'question.asked'].toSorted());
    for (const received of receiver.received) {
      receiver.verify(received, secret);
      const { type, timestamp, data } = JSON.parse(received.body) as {
        type: string;
        timestamp: string;
        data: Envelope;
      };
      expect(timestamp).toBe(data.outcome?.at ?? data.askedAt);
      expect(type).toBe(`question.${data.state === 'pending' ? 'asked' : data.state}`);
      expect(received.headers).toMatchObject({ 'content-type': 'application/json', 'x-mine': 'yes' });
      expect(received.headers['user-agent']).toMatch(/^Settled\/\d/);
    }
    const told = receiver.received.find(({ type }) => type === 'question.answered');
    expect(told?.data).toEqual(await hooks.house.fetch(answered));
    await eventually(async () => (await hooks.deliveries(webhook, '?status=delivered')).length === 6);
  });

  test('is told of outcomes alone when it says nothing else', async () => {
    const { events } = await hooks.create(receiver.url);
    expect(events).toEqual(['question.answered', 'question.expired', 'question.cancelled']);
    await hooks.settle();
    await eventually(() => receiver.received.length === 1);
    expect(receiver.types).toEqual(['question.answered']);
  });

  test('is not told of what happened before it was made, while it was disabled, or in another tenant', async () => {
    await hooks.settle();
    const { id } = await hooks.create(receiver.url, { events: ALL });
    await hooks.update(id, { enabled: false });
    await hooks.settle();
    await hooks.update(id, { enabled: true });
    const other = await hooks.house.server.key('agent:other', ['ask'], 'other');
    const body = { prompt: 'Theirs?', allowText: true, scope: { kind: 'direct', user: 'user:x' } };
    await successful(await hooks.house.post('/v1/questions', other, body), 201);
    const question = await hooks.settle();
    await eventually(() => receiver.received.length === 2);
    expect(receiver.received.map(({ data }) => data.id)).toEqual([question, question]);
    expect(await hooks.deliveries(id)).toHaveLength(2);
  });

  test('shows its secret when it is made, and at its own address only', async () => {
    const { secret, ...webhook } = await hooks.create(receiver.url, { description: 'mine' });
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(await hooks.see(webhook.id)).toEqual(webhook);
    const list = await (await hooks.call('GET', '/v1/webhooks')).text();
    expect(list).not.toContain('whsec_');
    expect(await (await hooks.call('GET', `/v1/webhooks/${webhook.id}/secret`)).json()).toEqual({ secret });
  });

  test('is signed for by both secrets while they are rotated, and by the new one alone afterwards', async () => {
    const { id, secret } = await hooks.create(receiver.url);
    const rotate = async (overlapSeconds: number) => {
      const response = await hooks.call('POST', `/v1/webhooks/${id}/rotate-secret`, { overlapSeconds });
      return (await successful<{ secret: string }>(response)).secret;
    };
    const newer = await rotate(60);
    await hooks.settle();
    await eventually(() => receiver.received.length === 1);
    const [during] = receiver.received;
    for (const one of [secret, newer]) receiver.verify(during as never, one);
    const newest = await rotate(0);
    await hooks.settle();
    await eventually(() => receiver.received.length === 2);
    const after = receiver.received[1] as never;
    receiver.verify(after, newest);
    expect(() => receiver.verify(after, newer)).toThrow();
    // The first one has its own time, whatever came after.
    receiver.verify(after, secret);
    expect(await (await hooks.call('GET', `/v1/webhooks/${id}/secret`)).json()).toEqual({ secret: newest });
  });

  test('is another person`s nothing: 404 in another tenant, 403 without the scope', async () => {
    const { id } = await hooks.create(receiver.url);
    const stranger = await hooks.house.server.key('user:stranger', ['webhooks'], 'other');
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['GET', '/secret'],
      ['POST', '/rotate-secret'],
      ['POST', '/test'],
      ['GET', '/deliveries'],
    ] as const) {
      const body = method === 'GET' || method === 'DELETE' ? {} : { body: {} };
      const call = (key: string) =>
        hooks.house.server.call(method, `/v1/webhooks/${id}${path}`, { key, ...body });
      expect([method, path, (await call(stranger.key)).status]).toEqual([method, path, 404]);
      expect([method, path, (await call(hooks.house.people.asker.key)).status]).toEqual([method, path, 403]);
    }
    expect(await hooks.see(id)).toMatchObject({ enabled: true });
  });

  test('has a test message, whatever it wants', async () => {
    const { id, secret } = await hooks.create(receiver.url);
    const response = await hooks.call('POST', `/v1/webhooks/${id}/test`, {});
    const delivery = await successful<{ id: string; type: string }>(response, 202);
    await eventually(() => receiver.received.length === 1);
    expect(receiver.received[0]).toMatchObject({ id: delivery.id, type: 'webhook.test' });
    receiver.verify(receiver.received[0] as never, secret);
  });

  test('is made once under an Idempotency-Key, and shows the same secret again', async () => {
    const make = () =>
      hooks.call('POST', '/v1/webhooks', { url: receiver.url }, { 'idempotency-key': 'once' });
    const [first, second] = [await make(), await make()];
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(await second.json()).toEqual(await first.json());
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    const rows = await hooks.house.query('SELECT result FROM idempotency_keys');
    expect(JSON.stringify(rows)).not.toContain('whsec_');
  });
});

describe('what a webhook cannot be', () => {
  test.each([
    [{ url: 'ftp://example.com/' }, 'url'],
    [{ url: 'not a url' }, 'url'],
    [{ url: 'https://user:pass@example.com/' }, 'url'],
    [{ url: 'https://@example.com/' }, 'url'],
    [{ url: 'https://example.com/#here' }, 'url'],
    [{ url: `https://example.com/${'x'.repeat(2_048)}` }, 'url'],
    [{ url: 'http://10.0.0.1/' }, 'url'],
    [{ url: 'http://169.254.169.254/latest' }, 'url'],
    [{ url: 'http://[::1]/' }, 'url'],
    [{ url: 'http://0xA000001/' }, 'url'],
    [{ events: [] }, 'events'],
    [{ events: ['question.deleted'] }, 'events.0'],
    [{ headers: { 'Webhook-Id': 'x' } }, 'headers.Webhook-Id'],
    [{ headers: { HOST: 'x' } }, 'headers.HOST'],
    [{ headers: { 'Content-Length': '1' } }, 'headers.Content-Length'],
    [{ headers: { 'X-A': 'a\r\nX-B: b' } }, 'headers.X-A'],
    [{ headers: { 'X A': 'a' } }, 'headers.X A'],
    [{ maxConcurrency: 0 }, 'maxConcurrency'],
    [{ rateLimit: { limit: 0, seconds: 1 } }, 'rateLimit.limit'],
    [{ secret: 'whsec_mine' }, 'secret'],
  ])('%.60j: 422 at %s', async (change, path) => {
    const response = await hooks.call('POST', '/v1/webhooks', { url: 'https://example.com/', ...change });
    expect(response.status).toBe(422);
    const { errors } = (await response.json()) as { errors: { path: string; message: string }[] };
    expect(errors.map((error) => error.path)).toContain(path);
    expect(errors[0]?.message).toMatch(/^[a-z]/);
  });
});

describe('a delivery', () => {
  test('that fails is tried again by the schedule, with the same id and bytes, and ends as failed', async () => {
    receiver.answer = answering(500);
    const { id } = await hooks.create(receiver.url);
    await hooks.settle();
    await eventually(async () => (await hooks.deliveries(id, '?status=failed')).length === 1);
    expect(receiver.received).toHaveLength(4);
    expect(new Set(receiver.received.map(({ id: delivery, body }) => delivery + body)).size).toBe(1);
    const [delivery] = await hooks.deliveries(id);
    expect(delivery).toMatchObject({
      webhook: id,
      type: 'question.answered',
      status: 'failed',
      nextAttemptAt: null,
    });
    expect(delivery?.attempts).toHaveLength(4);
    expect(delivery?.attempts[0]).toMatchObject({
      status: 500,
      error: 'http_500',
      response: {
        headers: expect.objectContaining({ connection: expect.any(String) }),
        body: 'answered 500',
      },
    });
    expect(await hooks.delivery(delivery?.id ?? '')).toEqual(delivery);
  });

  test('comes through when its receiver is back', async () => {
    receiver.answer = (received, response) =>
      answering(receiver.received.length < 3 ? 503 : 204)(received, response);
    const { id } = await hooks.create(receiver.url);
    await hooks.settle();
    await eventually(async () => (await hooks.deliveries(id, '?status=delivered')).length === 1);
    expect((await hooks.deliveries(id))[0]?.attempts.map(({ status }) => status)).toEqual([503, 503, 204]);
  });

  test('is sent once more for each manual retry, and never twice at the same time', async () => {
    const { id } = await hooks.create(receiver.url);
    await hooks.settle();
    await eventually(async () => (await hooks.deliveries(id, '?status=delivered')).length === 1);
    const [delivery] = await hooks.deliveries(id);
    let [open, most] = [0, 0];
    receiver.answer = (_received, response) => {
      open += 1;
      most = Math.max(most, open);
      setTimeout(() => {
        open -= 1;
        response.end();
      }, 100);
    };
    const retry = () => hooks.call('POST', `/v1/webhook-deliveries/${delivery?.id}/retry`, {});
    const retried = await Promise.all([retry(), retry(), retry()]);
    expect(retried.map(({ status }) => status)).toEqual([202, 202, 202]);
    await eventually(() => receiver.received.length === 4);
    await eventually(async () => (await hooks.deliveries(id, '?status=delivered')).length === 1);
    expect(new Set(receiver.ids).size).toBe(1);
    expect(most).toBe(1);
  });

  test('is sent again by a replay of its time, with its id and bytes, and others are not', async () => {
    const { id } = await hooks.create(receiver.url);
    await hooks.settle();
    await eventually(() => receiver.received.length === 1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    const since = new Date().toISOString();
    await hooks.settle();
    await eventually(async () => (await hooks.deliveries(id, '?status=delivered')).length === 2);
    const replay = (body: object) => hooks.call('POST', `/v1/webhooks/${id}/replay`, body);
    expect(await (await replay({ since, status: 'failed' })).json()).toEqual({ queued: 0 });
    expect(await (await replay({ since })).json()).toEqual({ queued: 1 });
    await eventually(() => receiver.received.length === 3);
    const [, second, again] = receiver.received;
    expect([again?.id, again?.body]).toEqual([second?.id, second?.body]);
    expect((await replay({ since, until: since })).status).toBe(422);
  });

  test('of a deleted webhook is cancelled, and stays readable', async () => {
    receiver.answer = answering(500);
    const { id } = await hooks.create(receiver.url);
    await hooks.settle();
    await eventually(() => receiver.received.length > 0);
    const [delivery] = await hooks.deliveries(id);
    expect((await hooks.call('DELETE', `/v1/webhooks/${id}`)).status).toBe(204);
    await eventually(async () => (await hooks.delivery(delivery?.id ?? '')).status === 'cancelled');
    expect((await hooks.call('GET', `/v1/webhooks/${id}`)).status).toBe(404);
    expect((await hooks.call('POST', `/v1/webhook-deliveries/${delivery?.id}/retry`, {})).status).toBe(409);
  });

  test('waits for as long as Retry-After says', async () => {
    receiver.answer = (received, response) =>
      receiver.received.length === 1
        ? answering(429, { 'retry-after': '2' })(received, response)
        : answering(200)(received, response);
    await hooks.create(receiver.url);
    await hooks.settle();
    await eventually(() => receiver.received.length === 2);
    const [first, second] = receiver.received;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(1_900);
  });

  test('is listed newest first, by status, by event and by type, in pages', async () => {
    const { id } = await hooks.create(receiver.url, { events: ALL });
    await hooks.settle();
    await hooks.settle();
    await eventually(async () => (await hooks.deliveries(id, '?status=delivered')).length === 4);
    const all = await hooks.deliveries(id);
    expect(all.map((one) => one.id)).toEqual(
      all
        .map((one) => one.id)
        .toSorted()
        .reverse(),
    );
    expect(await hooks.deliveries(id, '?event=question.asked')).toHaveLength(2);
    expect(await hooks.deliveries(id, `?event=${all[0]?.event}`)).toEqual([all[0]]);
    const first = await successful<{ data: unknown[]; nextCursor: string }>(
      await hooks.call('GET', `/v1/webhooks/${id}/deliveries?limit=3`),
    );
    const rest = await successful<{ data: unknown[]; nextCursor: null }>(
      await hooks.call('GET', `/v1/webhooks/${id}/deliveries?limit=3&cursor=${first.nextCursor}`),
    );
    expect([...first.data, ...rest.data]).toEqual(all);
    expect(rest.nextCursor).toBeNull();
  });
});

describe('a webhook that', () => {
  test('fails and recovers gets its own, and so do nineteen others', async () => {
    const receivers = await Promise.all(Array.from({ length: 20 }, () => Receiver.start()));
    for (const one of receivers) {
      one.answer = (received, response) =>
        answering(one.received.length % 3 === 0 ? 200 : 500)(received, response);
      await hooks.create(one.url);
    }
    const questions = await Promise.all([hooks.settle(), hooks.settle(), hooks.settle()]);
    const count = `SELECT count(*)::integer AS count FROM webhook_deliveries WHERE status = 'pending'`;
    await eventually(async () => (await hooks.house.query(count))[0]?.count === 0);
    for (const one of receivers) {
      expect(new Set(one.ids).size).toBe(3);
      expect(new Set(one.received.map(({ data }) => data.id))).toEqual(new Set(questions));
      one.stop();
    }
    const ids = receivers.flatMap((one) => [...new Set(one.ids)]);
    expect(new Set(ids).size).toBe(60);
  });

  test('hangs, drips, floods or breaks off keeps nobody else waiting', async () => {
    const bad = await Promise.all(Array.from({ length: 5 }, () => Receiver.start()));
    const [hangs, drips, floods, resets, fails] = bad as [Receiver, Receiver, Receiver, Receiver, Receiver];
    hangs.answer = () => {};
    drips.answer = (_received, response) => {
      const drip = setInterval(() => response.write('.'), 100);
      response.on('close', () => clearInterval(drip));
    };
    floods.answer = (_received, response) => response.end(Buffer.alloc(50 * 1024 * 1024));
    resets.answer = (_received, response) => response.socket?.resetAndDestroy();
    fails.answer = answering(500);
    for (const one of bad) await hooks.create(one.url);
    await hooks.create(receiver.url);
    const questions: string[] = [];
    for (let turn = 0; turn < 30; turn += 1) questions.push(await hooks.settle());
    const latest = performance.now();
    await eventually(() => receiver.received.length === questions.length, 2_000);
    expect((receiver.received.at(-1)?.at ?? 0) - latest).toBeLessThan(500);
    for (const one of bad) expect(one.received.length).toBeGreaterThan(0);
    for (const one of bad) one.stop();
  });

  test('answers 410 is disabled, once, and those that want to know are told', async () => {
    const watcher = await Receiver.start();
    await hooks.create(watcher.url, { events: ['webhook.disabled'] });
    receiver.answer = answering(410);
    const { id } = await hooks.create(receiver.url, { maxConcurrency: 5, headers: { 'X-Token': 'hush' } });
    await Promise.all([hooks.settle(), hooks.settle(), hooks.settle()]);
    await eventually(() => watcher.received.length === 1);
    expect(await hooks.see(id)).toMatchObject({
      enabled: false,
      disabledReason: 'gone',
      disabledAt: expect.any(String),
    });
    expect(watcher.received[0]).toMatchObject({
      type: 'webhook.disabled',
      data: { id, disabledReason: 'gone' },
    });
    expect(watcher.received[0]?.body).not.toContain('hush');
    await hooks.settle();
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(watcher.received).toHaveLength(1);
    expect(await hooks.update(id, { enabled: true })).toMatchObject({ enabled: true, disabledReason: null });
    watcher.stop();
  });

  test('wants order gets one after the other, in commit order, and what fails holds up what comes after', async () => {
    let failures = 2;
    receiver.answer = (received, response) => {
      const fails = failures > 0 && receiver.received.length > 2;
      if (fails) failures -= 1;
      setTimeout(() => answering(fails ? 500 : 200)(received, response), Math.random() * 20);
    };
    const { id } = await hooks.create(receiver.url, { events: ALL, ordered: true });
    await Promise.all(Array.from({ length: 10 }, () => hooks.settle()));
    await eventually(async () => (await hooks.deliveries(id, '?status=delivered')).length === 20);
    const rows = await hooks.house.query(
      'SELECT e.id FROM events e JOIN webhook_deliveries d ON d.event = e.id WHERE d.webhook = $1 ORDER BY e.position',
      [id],
    );
    const deliveries = await hooks.deliveries(id);
    const eventOf = new Map(deliveries.map((one) => [one.id, one.event]));
    const firsts = [...new Set(receiver.ids)].map((delivery) => eventOf.get(delivery));
    expect(firsts).toEqual(rows.map((row) => row.id));
    expect(receiver.received).toHaveLength(22);
  });

  test('may get so many at once, and so many in a time, gets no more', async () => {
    let [open, most] = [0, 0];
    receiver.answer = (_received, response) => {
      open += 1;
      most = Math.max(most, open);
      setTimeout(() => {
        open -= 1;
        response.end();
      }, 30);
    };
    await hooks.create(receiver.url, { maxConcurrency: 3, rateLimit: { limit: 5, seconds: 1 } });
    await Promise.all(Array.from({ length: 12 }, () => hooks.settle()));
    await eventually(() => receiver.received.length === 12);
    expect(most).toBe(3);
    const times = receiver.received.map(({ at }) => at);
    for (let first = 0; first + 5 < times.length; first += 1) {
      expect((times[first + 5] as number) - (times[first] as number)).toBeGreaterThan(900);
    }
  });
});
