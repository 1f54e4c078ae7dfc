import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database.js';
import { eventually } from '../../../test/support/eventually.js';
import { fanOut } from '../fan-out.js';
import { SecretBox } from '../secret-box.js';
import type { AttemptResult, Message, Sender } from '../sending/sender.js';
import { type Claimed, Claims } from '../store/claims.js';
import { DeliveryStore } from '../store/deliveries.js';
import { WebhookStore } from '../store/webhooks.js';
import { Dispatcher, type DispatcherParts } from './dispatcher.js';

const TENANT = 'default';
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const LEASE_SECONDS = 0.8;
const ALL = { before: undefined, limit: 1_000 };
const ANY = { status: undefined, event: undefined };

const box = new SecretBox(randomBytes(32));
const silent = { warn: () => {}, error: () => {}, info: () => {}, debug: () => {} } as never;

/** Sends nothing, answers as it is told, and can be broken off. */
class StubSender implements Pick<Sender, 'send' | 'breakOff' | 'stop'> {
  readonly sent: Message[] = [];
  readonly #open = new Set<(error: string) => void>();
  answer: (message: Message) => string | null | undefined = () => null;
  brokenOff = 0;

  send(message: Message): Promise<AttemptResult> {
    this.sent.push(message);
    const at = new Date();
    return new Promise((resolve) => {
      const end = (error: string | null) => {
        this.#open.delete(end);
        const status = error === null ? 200 : Number(/^http_(\d+)$/.exec(error)?.[1] ?? 0) || null;
        resolve({ at, durationMs: 1, status, error, response: null });
      };
      const error = this.answer(message);
      if (error === undefined) this.#open.add(end);
      else end(error);
    });
  }

  breakOff(): void {
    this.brokenOff += this.#open.size;
    for (const end of this.#open) end('broken_off');
  }

  async stop(): Promise<void> {
    this.breakOff();
  }
}

let database: TestDatabase;
let pool: pg.Pool;
let webhooks: WebhookStore;
let deliveries: DeliveryStore;
let sender: StubSender;
let running: Dispatcher[];
beforeEach(async () => {
  database = await createTestDatabase();
  pool = new pg.Pool(database.connection);
  pool.on('error', () => {});
  webhooks = new WebhookStore(pool);
  deliveries = new DeliveryStore(pool);
  sender = new StubSender();
  running = [];
});
afterEach(async () => {
  await Promise.all(running.map((one) => one.stop()));
  await pool.end();
  await database.drop();
});

async function webhook(url = 'https://example.com/', change: object = {}): Promise<string> {
  const body = {
    url,
    events: ['question.answered'],
    description: null,
    headers: {},
    enabled: true,
    ordered: false,
    maxConcurrency: 100,
    rateLimit: null,
    ed25519: false,
    ...change,
  };
  const { id } = await webhooks.insert(pool, TENANT, body as never, undefined);
  await webhooks.addSecret(pool, id, box.seal(SECRET));
  return id;
}

/** So many events, for all webhooks that there are. */
async function announce(count = 1): Promise<string[]> {
  const at = new Date().toISOString();
  const events = Array.from({ length: count }, () => randomUUID());
  const announcements = events.map((id) => {
    return { id, tenant: TENANT, position: 1, type: 'question.answered', at, data: '{}' };
  });
  await fanOut(pool, announcements);
  return events;
}

const listed = (id: string) => deliveries.list([TENANT, id], ANY, ALL);

function dispatch(change: Partial<DispatcherParts> = {}): Dispatcher {
  const dispatcher = new Dispatcher({
    claims: new Claims(pool, LEASE_SECONDS),
    sender: sender as never,
    box,
    logger: silent,
    schedule: [60_000],
    failingForSeconds: 432_000,
    disable: async () => {},
    attempted: () => {},
    ...change,
  });
  dispatcher.start();
  running.push(dispatcher);
  return dispatcher;
}

/** Claims of which some answers never come. */
class LossyClaims extends Claims {
  left = 1;

  override async claim(atMost: number): Promise<Claimed[]> {
    const claimed = await super.claim(atMost);
    if (claimed.length === 0 || this.left === 0) return claimed;
    this.left -= 1;
    throw Object.assign(new Error('the connection broke'), { code: 'ECONNRESET' });
  }
}

describe('a claim', () => {
  test('whose answer was lost ends with its lease, whatever else is under way', async () => {
    const hanging = await webhook('https://hangs.example/');
    sender.answer = ({ target }) => (target.url.includes('hangs') ? undefined : null);
    await announce();
    dispatch();
    await eventually(() => sender.sent.length === 1);
    const other = await webhook('https://fine.example/', { ordered: true });
    await announce();
    const claims = new LossyClaims(pool, LEASE_SECONDS);
    dispatch({ claims });
    await eventually(async () => (await listed(other)).every(({ status }) => status === 'delivered'), 5_000);
    expect((await listed(hanging)).map(({ status }) => status)).toContain('pending');
  });

  test('is given up before its lease is over when it cannot be renewed', async () => {
    await webhook();
    await announce();
    sender.answer = () => undefined;
    const claims = new Claims(pool, LEASE_SECONDS);
    claims.renew = async () => {
      throw Object.assign(new Error('the database is away'), { code: 'ECONNREFUSED' });
    };
    const startedAt = performance.now();
    dispatch({ claims });
    await eventually(() => sender.brokenOff > 0);
    expect(performance.now() - startedAt).toBeLessThan(LEASE_SECONDS * 1_000);
  });

  test('goes on for as long as its attempt takes', async () => {
    await webhook();
    await announce();
    sender.answer = () => undefined;
    dispatch();
    dispatch();
    await pause(2.5 * LEASE_SECONDS * 1_000);
    expect(sender.sent).toHaveLength(1);
  });
});

describe('a dispatcher', () => {
  test('has room for those that answer, however many hang', async () => {
    for (let number = 0; number < 40; number += 1) await webhook(`https://hangs-${number}.example/`);
    await announce(100);
    sender.answer = ({ target }) => (target.url.includes('hangs') ? undefined : null);
    const dispatcher = dispatch();
    await eventually(() => dispatcher.inFlight > 1_500, 10_000);
    await pause(500);
    const fine = await webhook('https://fine.example/');
    const before = performance.now();
    await announce(10);
    await eventually(async () => (await listed(fine)).every(({ status }) => status === 'delivered'));
    expect(performance.now() - before).toBeLessThan(1_000);
  });

  test('that stops gives back what it breaks off, as if it had not begun', async () => {
    const id = await webhook();
    await announce();
    sender.answer = () => undefined;
    const dispatcher = dispatch({ schedule: [] });
    await eventually(() => sender.sent.length === 1);
    await dispatcher.stop();
    expect(await listed(id)).toMatchObject([{ status: 'pending', attempts: [] }]);
    sender.answer = () => null;
    dispatch();
    await eventually(async () => (await listed(id))[0]?.status === 'delivered');
  });

  test('signs with the secrets that it can read', async () => {
    const [some, none] = [await webhook('https://some.example/'), await webhook('https://none.example/')];
    const other = new SecretBox(randomBytes(32));
    await webhooks.addSecret(pool, some, other.seal('whsec_b3RoZXI='));
    await pool.query('UPDATE webhook_secrets SET sealed = $2 WHERE webhook = $1', [none, other.seal(SECRET)]);
    await announce();
    dispatch();
    await eventually(async () => (await listed(some))[0]?.status === 'delivered');
    await eventually(async () => (await listed(none))[0]?.attempts.length === 1);
    expect(sender.sent.map(({ target }) => target.secrets)).toEqual([[SECRET]]);
    expect((await listed(none))[0]?.attempts[0]?.error).toBe('secret_unreadable');
  });

  test('disables who answers 410, also when the database is away just then', async () => {
    const id = await webhook();
    await announce();
    sender.answer = () => 'http_410';
    const disabled: string[] = [];
    let away = true;
    const disable = async (which: string) => {
      if (!away) return void disabled.push(which);
      away = false;
      throw Object.assign(new Error('deadlock detected'), { code: '40P01' });
    };
    dispatch({ disable });
    await eventually(() => disabled.length === 1);
    expect(disabled).toEqual([id]);
  });
});

describe('a delivery', () => {
  test('that somebody wants sent again goes before all that waits', async () => {
    const id = await webhook('https://example.com/', { maxConcurrency: 1 });
    const [event] = await announce();
    dispatch();
    await eventually(async () => (await listed(id))[0]?.status === 'delivered');
    await running.pop()?.stop();
    const [delivered] = await listed(id);
    await announce(5);
    await deliveries.retry(pool, TENANT, delivered?.id ?? '');
    sender.sent.length = 0;
    dispatch();
    await eventually(() => sender.sent.length === 6);
    expect(sender.sent[0]?.id).toBe(delivered?.id);
    expect(delivered?.event).toBe(event);
  });

  test('that was delivered stays so, whatever comes of sending it again', async () => {
    const id = await webhook();
    await announce();
    dispatch();
    await eventually(async () => (await listed(id))[0]?.status === 'delivered');
    sender.answer = () => 'http_500';
    await deliveries.retry(pool, TENANT, (await listed(id))[0]?.id ?? '');
    await eventually(async () => (await listed(id))[0]?.attempts.length === 2);
    expect((await listed(id))[0]?.status).toBe('delivered');
  });

  test('that is replayed while its last attempt is under way begins its schedule anew all the same', async () => {
    const id = await webhook();
    await announce();
    let end: (() => void) | undefined;
    const slow = {
      ...sender,
      send: async (message: Message) => {
        if (end !== undefined) return await sender.send(message);
        await new Promise<void>((resolve) => {
          end = resolve;
        });
        return { at: new Date(), durationMs: 1, status: 500, error: 'http_500', response: null };
      },
      stop: async () => {},
    };
    sender.answer = () => (sender.sent.length === 1 ? 'http_500' : null);
    dispatch({ sender: slow as never, schedule: [10] });
    await eventually(() => end !== undefined);
    expect(await deliveries.replay(pool, id, { since: '2000-01-01T00:00:00.000Z' } as never)).toBe(1);
    end?.();
    await eventually(async () => (await listed(id))[0]?.status === 'delivered');
    const errors = (await listed(id))[0]?.attempts.map(({ error }) => error);
    expect(errors).toEqual(['http_500', 'http_500', null]);
  });

  test('in order waits for the one before it, and a test message waits for none', async () => {
    const id = await webhook('https://example.com/', { ordered: true });
    const at = new Date().toISOString();
    const made = [2, 1].map((position) => {
      return { id: randomUUID(), tenant: TENANT, position, type: 'question.answered', at, data: '{}' };
    });
    await fanOut(pool, made);
    await pool.query('UPDATE webhooks SET complete_to = 10');
    const [second, first] = made;
    const of = async (event?: string) => (await listed(id)).find((one) => one.event === event)?.id;
    sender.answer = () => 'http_500';
    dispatch();
    await eventually(() => sender.sent.length === 1);
    const body = { webhook: id, tenant: TENANT, event: randomUUID(), type: 'webhook.test', body: '{}' };
    const message = await deliveries.insertTest(pool, body);
    await eventually(() => sender.sent.length === 2);
    await deliveries.retry(pool, TENANT, (await of(second?.id)) ?? '');
    await eventually(() => sender.sent.length === 3);
    await pause(300);
    expect(sender.sent.map((one) => one.id)).toEqual([await of(first?.id), message, await of(second?.id)]);
  });

  test('in order waits for what happened before it and has no delivery yet', async () => {
    const id = await webhook('https://example.com/', { ordered: true });
    const event = `INSERT INTO events (position, id, tenant, stream, version, type, schema, data, at, actor, correlation, hash)
      VALUES ($1, $2::uuid, $3, $2::text, 1, 'question.answered', 1, '{}', now(), 'a', 'c', '')`;
    const [first, second] = [
      { id: randomUUID(), position: 1 },
      { id: randomUUID(), position: 2 },
    ];
    for (const one of [first, second]) await pool.query(event, [one.position, one.id, TENANT]);
    const at = new Date().toISOString();
    const reach = (one: typeof first) =>
      fanOut(pool, [{ ...one, tenant: TENANT, type: 'question.answered', at, data: '{}' }]);
    await reach(second);
    dispatch();
    await pause(300);
    expect(sender.sent).toEqual([]);
    await reach(first);
    await eventually(() => sender.sent.length === 2);
    const eventOf = new Map((await listed(id)).map((one) => [one.id, one.event]));
    expect(sender.sent.map((one) => eventOf.get(one.id))).toEqual([first.id, second.id]);
  });
});
