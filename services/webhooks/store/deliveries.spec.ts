import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import pg from 'pg';
import { inTransaction } from '#platform';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database.js';
import { fanOut } from '../fan-out.js';
import { DeliveryStore } from './deliveries.js';
import { WebhookStore } from './webhooks.js';

const DAYS = 30;
const TENANT = 'default';

let database: TestDatabase;
let pool: pg.Pool;
let deliveries: DeliveryStore;
beforeEach(async () => {
  database = await createTestDatabase();
  pool = new pg.Pool(database.connection);
  deliveries = new DeliveryStore(pool);
});
afterEach(async () => {
  await pool.end();
  await database.drop();
});

async function webhook(): Promise<string> {
  const body = {
    url: 'https://example.com/',
    events: ['question.answered'],
    description: null,
    headers: {},
    enabled: true,
    ordered: false,
    maxConcurrency: 10,
    rateLimit: null,
    ed25519: false,
  } as const;
  return (await new WebhookStore(pool).insert(pool, TENANT, body as never, undefined)).id;
}

async function announce(): Promise<string> {
  const id = randomUUID();
  const at = new Date().toISOString();
  await fanOut(pool, [{ id, tenant: TENANT, position: 1, type: 'question.answered', at, data: '{}' }]);
  return id;
}

/** Ends the delivery of an event to a webhook, so many days ago. */
async function end(to: string, event: string, daysAgo: number): Promise<void> {
  const [delivery] = await deliveries.list(
    [TENANT, to],
    { status: undefined, event },
    { before: undefined, limit: 1 },
  );
  await pool.query(
    `UPDATE webhook_deliveries SET status = 'delivered', completed_at = now() - make_interval(days => $2) WHERE id = $1`,
    [delivery?.id, daysAgo],
  );
  await pool.query('INSERT INTO webhook_attempts (delivery, at, duration_ms) VALUES ($1, now(), 1)', [
    delivery?.id,
  ]);
}

async function count(table: string): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(`SELECT count(*)::integer AS count FROM ${table}`);
  return rows[0]?.count ?? 0;
}

test('an event makes one delivery for each webhook, however often it is announced, and none for one that is gone', async () => {
  const [one, other, gone] = [await webhook(), await webhook(), await webhook()];
  const event = randomUUID();
  const at = new Date().toISOString();
  const announcement = { id: event, tenant: TENANT, position: 1, type: 'question.answered', at, data: '{}' };
  const rest = Array.from({ length: 5 }, (_, index) => ({
    ...announcement,
    id: randomUUID(),
    position: index + 2,
  }));
  const batch = [announcement, ...rest, announcement];
  const made = await Promise.all([
    ...Array.from({ length: 8 }, () => fanOut(pool, batch)),
    inTransaction(pool, (client) => new WebhookStore(pool).delete(client, TENANT, gone)),
  ]);
  expect(made.length).toBe(9);
  for (const to of [one, other]) {
    const listed = await deliveries.list(
      [TENANT, to],
      { status: 'pending', event: undefined },
      { before: undefined, limit: 50 },
    );
    expect(listed.map((delivery) => delivery.event).toSorted()).toEqual(
      batch
        .slice(0, 6)
        .map(({ id }) => id)
        .toSorted(),
    );
  }
  const pending = await deliveries.list(
    [TENANT, gone],
    { status: 'pending', event: undefined },
    { before: undefined, limit: 50 },
  );
  expect(pending).toEqual([]);
});

test('what ended long ago is forgotten with all that was its own; what did not stays', async () => {
  const [one, other] = [await webhook(), await webhook()];
  const [old, half, recent] = [await announce(), await announce(), await announce()];
  for (const to of [one, other]) await end(to, old, DAYS + 1);
  // Of the second event one delivery is over, and the other still to come.
  await end(one, half, DAYS + 1);
  for (const to of [one, other]) await end(to, recent, DAYS - 1);

  expect(await deliveries.forget(DAYS, 2)).toBe(2);
  expect(await deliveries.forget(DAYS, 2)).toBe(1);
  expect(await deliveries.forget(DAYS, 2)).toBe(0);

  const { rows } = await pool.query('SELECT event FROM webhook_messages ORDER BY event');
  expect(rows.map(({ event }) => event)).toEqual([half, recent].toSorted());
  expect(await count('webhook_deliveries')).toBe(3);
  expect(await count('webhook_attempts')).toBe(2);
});

test('a webhook that was deleted is forgotten after its last delivery', async () => {
  const [gone, kept] = [await webhook(), await webhook()];
  const event = await announce();
  await end(kept, event, DAYS - 1);
  await end(gone, event, DAYS - 1);
  await pool.query('UPDATE webhooks SET deleted_at = now() - make_interval(days => $2) WHERE id = $1', [
    gone,
    DAYS + 1,
  ]);
  await deliveries.forget(DAYS, 10);
  expect(await count('webhooks')).toBe(2);
  await end(gone, event, DAYS + 1);
  await deliveries.forget(DAYS, 10);
  expect(await count('webhooks')).toBe(1);
});
