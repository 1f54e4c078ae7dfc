import { createServer } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { Hooks } from '../support/webhooks/hooks.js';
import { answering, Receiver } from '../support/webhooks/receiver.js';

const DISABLED_AFTER_SECONDS = 2;
const OTHER_ADDRESS = '127.0.0.2';

let hooks: Hooks;
let receiver: Receiver;
beforeAll(async () => {
  hooks = await Hooks.open({
    WEBHOOKS_ALLOW_PRIVATE: `${OTHER_ADDRESS}/32`,
    WEBHOOKS_DISABLE_AFTER_SECONDS: String(DISABLED_AFTER_SECONDS),
    WEBHOOKS_RETRY_SCHEDULE: '0.1,'.repeat(60),
  });
});
afterAll(() => hooks.close());
beforeEach(async () => {
  receiver = await Receiver.start(OTHER_ADDRESS);
});
afterEach(() => receiver.stop());

describe('a webhook', () => {
  test('that has failed at everything for as long as it may is disabled, once, and others are told', async () => {
    const watcher = await Receiver.start(OTHER_ADDRESS);
    await hooks.create(watcher.url, { events: ['webhook.disabled'] });
    receiver.answer = answering(500);
    const { id } = await hooks.create(receiver.url);
    await hooks.settle();
    await eventually(async () => !(await hooks.see(id)).enabled);
    expect(await hooks.see(id)).toMatchObject({ disabledReason: 'failing', disabledAt: expect.any(String) });
    const [first, last] = [receiver.received.at(0), receiver.received.at(-1)];
    expect((last?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(DISABLED_AFTER_SECONDS * 1_000 - 250);
    await eventually(() => watcher.received.length === 1);
    expect(watcher.received[0]).toMatchObject({ type: 'webhook.disabled', data: { id } });
    // What it still had to get comes when it is enabled again.
    receiver.answer = answering(200);
    await hooks.update(id, { enabled: true });
    await eventually(async () => (await hooks.deliveries(id, '?status=delivered')).length === 1);
    expect(watcher.received).toHaveLength(1);
    watcher.stop();
  });

  test('that succeeds now and then stays enabled', async () => {
    receiver.answer = (received, response) =>
      answering(receiver.received.length % 4 === 0 ? 200 : 500)(received, response);
    const { id } = await hooks.create(receiver.url);
    const until = performance.now() + 1.5 * DISABLED_AFTER_SECONDS * 1_000;
    while (performance.now() < until) await hooks.settle();
    expect(await hooks.see(id)).toMatchObject({ enabled: true, disabledReason: null });
  });

  test('that keeps failing is tried one at a time until it succeeds, and gets all that it has missed', async () => {
    let [open, most] = [0, 0];
    receiver.answer = (received, response) => {
      open += 1;
      most = Math.max(most, open);
      setTimeout(() => {
        open -= 1;
        answering(500)(received, response);
      }, 20);
    };
    const { id } = await hooks.create(receiver.url, { maxConcurrency: 20 });
    await Promise.all(Array.from({ length: 30 }, () => hooks.settle()));
    await eventually(() => receiver.received.length >= 30);
    most = 0;
    const before = receiver.received.length;
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(most).toBe(1);
    expect(receiver.received.length - before).toBeLessThanOrEqual(9);
    const metrics = await (await hooks.call('GET', '/metrics')).text();
    expect(metrics).toMatch(/^settled_webhook_failing [1-9]/m);
    expect(metrics).toMatch(/^settled_webhook_attempts_total\{outcome="http_500"\} \d+$/m);
    expect(Number(/^settled_webhook_due (\d+)$/m.exec(metrics)?.[1])).toBeGreaterThan(10);
    expect(Number(/^settled_webhook_oldest_due_seconds (\S+)$/m.exec(metrics)?.[1])).toBeGreaterThan(0);
    receiver.answer = answering(200);
    await eventually(
      async () => (await hooks.deliveries(id, '?status=delivered&limit=100')).length === 30,
      3_000,
    );
  });

  test('is disabled by 410 together with fifty others that are told of each other', async () => {
    receiver.answer = answering(410);
    const events = ['question.answered', 'webhook.disabled'];
    const all = await Promise.all(
      Array.from({ length: 50 }, () => hooks.create(receiver.url, { events, maxConcurrency: 3 })),
    );
    await Promise.all(Array.from({ length: 3 }, () => hooks.settle()));
    const disabled = async () => {
      const seen = await Promise.all(all.map(({ id }) => hooks.see(id)));
      return seen.every(({ enabled, disabledReason }) => !enabled && disabledReason === 'gone');
    };
    await eventually(disabled, 5_000);
  });

  test('that is deleted while it is tested, replayed and retried leaves nothing that waits', async () => {
    for (let round = 0; round < 15; round += 1) {
      const { id } = await hooks.create(receiver.url);
      await hooks.settle();
      await eventually(async () => (await hooks.deliveries(id, '?status=delivered')).length === 1);
      const [delivery] = await hooks.deliveries(id);
      const since = '2026-01-01T00:00:00Z';
      const answers = await Promise.all([
        ...Array.from({ length: 4 }, () => hooks.call('POST', `/v1/webhooks/${id}/test`)),
        hooks.call('DELETE', `/v1/webhooks/${id}`),
        hooks.call('POST', `/v1/webhooks/${id}/replay`, { since }),
        hooks.call('POST', `/v1/webhook-deliveries/${delivery?.id}/retry`),
      ]);
      for (const { status } of answers) expect([202, 204, 404, 409]).toContain(status);
    }
    const left = `SELECT count(*)::integer AS count FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook
      WHERE w.deleted_at IS NOT NULL AND d.status = 'pending'`;
    expect((await hooks.house.query(left))[0]?.count).toBe(0);
  });

  test('cannot lead to an address that is not to be reached, whatever it answers', async () => {
    let connections = 0;
    const forbidden = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => {
      forbidden.listen(0, '127.0.0.1', resolve);
    });
    const { port } = forbidden.address() as { port: number };
    const location = `http://127.0.0.1:${port}/`;
    for (const url of [location, `http://localhost:${port}/`, `http://[::ffff:7f00:1]:${port}/`])
      expect((await hooks.call('POST', '/v1/webhooks', { url })).status).toBe(422);
    receiver.answer = answering(307, { location });
    const { id } = await hooks.create(receiver.url);
    await hooks.settle();
    await eventually(() => receiver.received.length > 2);
    const [delivery] = await hooks.deliveries(id);
    expect(delivery?.attempts[0]).toMatchObject({ status: 307, error: 'http_307' });
    expect(connections).toBe(0);
    forbidden.close();
  });
});
