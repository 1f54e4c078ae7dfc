import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { RestUser } from '../client/rest-user.mjs';
import {
  FIRST_WARM_UP_MS,
  MAIN_CONCURRENCY,
  MEMORY_LOOK_MS,
  PAUSE_BETWEEN_SLOTS_MS,
  WEBHOOK_ANSWERS_PER_SECOND,
  WEBHOOK_ANSWERS_PER_SECOND_AMONG,
  WEBHOOK_CONCURRENCY,
  WEBHOOK_DELIVERIES,
  WEBHOOK_DRAIN_TIMEOUT_MS,
  WEBHOOK_OBSERVED_AMONG_MS,
  WEBHOOK_OBSERVED_MS,
  WEBHOOK_SETTLE_MS,
} from '../limits.mjs';
import { forEach } from '../load/closed-loop.mjs';
import { Sink } from '../load/sink.mjs';
import { withUsers } from '../load/users.mjs';
import { rssBytes } from '../measure/memory.mjs';
import { percentile } from '../measure/statistics.mjs';
import { Distributed } from '../targets/distributed.mjs';
import { makeKey, makeKeys, settled } from '../targets/settled.mjs';

const GRAPHILE = fileURLToPath(new URL('../peers/graphile/main.mjs', import.meta.url));
const AILING = fileURLToPath(new URL('../peers/ailing/main.mjs', import.meta.url));
const ALLOWED = { WEBHOOKS_ALLOW_PRIVATE: '127.0.0.0/8' };

/** How fast a queue of deliveries is sent, and how late an answer comes to a receiver: alone, and among ailing ones. */
export async function webhooks({ rounds, progress }) {
  const why = settled.unavailable();
  if (why !== null)
    return { missing: [{ name: 'webhooks', label: 'Settled', why }], drains: [], latencies: [] };
  const sink = await Sink.start();
  try {
    const drains = await measureDrains({ sink, rounds, progress });
    const latencies = await measureLatencies({ sink, rounds, progress });
    return { missing: [], drains, ...latencies };
  } finally {
    sink.stop();
  }
}

/** The same number of deliveries, of the same size, in the same database, sent by each in turns. */
async function measureDrains({ sink, rounds, progress }) {
  const services = await Distributed.start({ kafka: false });
  const pool = new pg.Pool({ ...services.connection, max: 1 });
  pool.on('error', () => {});
  try {
    const targets = [
      await settledSender({ services, sink, pool }),
      await graphileSender({ services, sink, pool, batched: false }),
      await graphileSender({ services, sink, pool, batched: true }),
    ];
    const slots = [];
    for (let round = -1; round < rounds; round++) {
      for (const target of targets) {
        const perSecond = await drain(target, sink);
        progress(`${target.name}: ${perSecond.toFixed(0)} deliveries/s`);
        if (round >= 0) slots.push({ target: target.name, round, perSecond });
        await sleep(PAUSE_BETWEEN_SLOTS_MS);
      }
    }
    return slots;
  } finally {
    await pool.end();
    await services.stop();
  }
}

/** Deliveries/s, from when they are in the database until the last one has come. */
async function drain({ name, fill }, sink) {
  const ids = new Set();
  const all = new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`${name} sent ${ids.size} only`)),
      WEBHOOK_DRAIN_TIMEOUT_MS,
    );
    sink.onMessage = (_body, receivedAt, headers) => {
      ids.add(headers['webhook-id']);
      if (ids.size < WEBHOOK_DELIVERIES) return;
      clearTimeout(timer);
      resolve(receivedAt);
    };
  });
  const filledAt = await fill();
  return (WEBHOOK_DELIVERIES * 1_000) / ((await all) - filledAt);
}

/** Makes its deliveries out of one that the fan-out has made, so that they are such as it makes. */
async function settledSender({ services, sink, pool }) {
  const questions = await services.service('questions');
  const { origin } = await services.service('webhooks', ALLOWED);
  const keys = await makeKeys(questions.origin);
  const key = await makeKey(questions.origin, { subject: 'user:platform', scopes: ['webhooks'] });
  await subscribe(origin, key, { url: sink.url, maxConcurrency: WEBHOOK_CONCURRENCY });
  const come = new Promise((resolve) => {
    sink.onMessage = resolve;
  });
  const target = { user: () => new RestUser({ origin: questions.origin, ...keys }) };
  await withUsers(target, 1, async ([user]) => user.checkAnswer(await user.answer(await user.ask())));
  await come;
  const fill = () =>
    filled(pool, 'webhook_deliveries', {
      text: `WITH made AS (
          SELECT webhook, tenant, gen_random_uuid() AS event, type, body
          FROM (SELECT * FROM webhook_deliveries JOIN webhook_messages USING (event) ORDER BY id LIMIT 1) one,
            generate_series(1, $1)
        ), messages AS (INSERT INTO webhook_messages (event, body) SELECT event, body FROM made)
        INSERT INTO webhook_deliveries (id, webhook, tenant, event, type)
        SELECT new_uuid7(), webhook, tenant, event, type FROM made`,
      values: [WEBHOOK_DELIVERIES],
    });
  return { name: 'settled', fill };
}

async function graphileSender({ services, sink, pool, batched }) {
  const task = batched ? 'send-batched' : 'send';
  await services.program({
    name: 'graphile',
    script: GRAPHILE,
    env: {
      SECRET: randomBytes(32).toString('base64'),
      CONCURRENCY: String(WEBHOOK_CONCURRENCY),
      TASK: task,
      BATCHED: String(batched),
    },
    ready: /^ready$/m,
  });
  const fill = () =>
    filled(pool, 'graphile_worker._private_jobs', {
      text: `SELECT count(*) FROM graphile_worker.add_jobs(ARRAY(
          SELECT ($3, json_build_object('id', gen_random_uuid(), 'url', $2::text, 'body', one.body),
            NULL, NULL, NULL, NULL, NULL, NULL)::graphile_worker.job_spec
          FROM (SELECT body FROM webhook_messages LIMIT 1) one, generate_series(1, $1)))`,
      values: [WEBHOOK_DELIVERIES, sink.url, task],
    });
  return { name: batched ? 'graphile-worker, batched' : 'graphile-worker', fill };
}

/** With statistics from the start, as a table has that is in use. Resolves with when it was done. */
async function filled(pool, table, statement) {
  await pool.query('BEGIN');
  await pool.query(statement);
  await pool.query(`ANALYZE ${table}`);
  await pool.query('COMMIT');
  return performance.now();
}

/** Answers at a steady rate, with one receiver that is well, and at a lower one again with eight ailing ones beside it. */
async function measureLatencies({ sink, rounds, progress }) {
  const services = await Distributed.start({ kafka: false });
  try {
    const { origin } = await services.service('questions');
    const sender = await services.service('webhooks', ALLOWED);
    const key = await makeKey(origin, { subject: 'user:platform', scopes: ['webhooks'] });
    const keys = await makeKeys(origin);
    const target = { user: () => new RestUser({ origin, ...keys }) };
    await subscribe(sender.origin, key, { url: sink.url });
    const measure = async (perSecond, forMs) => {
      const lags = await latency({ target, sink, perSecond, forMs });
      const [p50, p99] = [percentile(lags, 0.5), percentile(lags, 0.99)];
      progress(`${perSecond} answers/s: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`);
      return { p50, p99 };
    };
    const inTurn = async (perSecond, forMs) => {
      const slots = [];
      for (let round = 0; round < rounds; round++) slots.push(await measure(perSecond, forMs));
      return slots;
    };
    await measure(WEBHOOK_ANSWERS_PER_SECOND, FIRST_WARM_UP_MS);
    const busy = await inTurn(WEBHOOK_ANSWERS_PER_SECOND, WEBHOOK_OBSERVED_MS);
    const alone = await inTurn(WEBHOOK_ANSWERS_PER_SECOND_AMONG, WEBHOOK_OBSERVED_AMONG_MS);
    const idleBytes = rssBytes(sender.pid);
    const ailing = await services.program({ name: 'ailing', script: AILING, ready: /^ready (.+)$/m });
    for (const url of ailing.origin.split(' ')) await subscribe(sender.origin, key, { url });
    await measure(WEBHOOK_ANSWERS_PER_SECOND_AMONG, FIRST_WARM_UP_MS);
    let mostBytes = 0;
    const watching = setInterval(() => {
      mostBytes = Math.max(mostBytes, rssBytes(sender.pid));
    }, MEMORY_LOOK_MS);
    const among = await inTurn(WEBHOOK_ANSWERS_PER_SECOND_AMONG, WEBHOOK_OBSERVED_AMONG_MS);
    clearInterval(watching);
    progress(`memory: ${Math.round((mostBytes - idleBytes) / 1_024 / 1_024)} MiB more`);
    return { busy, alone, among, grownBytes: mostBytes - idleBytes };
  } finally {
    await services.stop();
  }
}

/** Milliseconds from just before an answer is written until its message has come to the receiver that is well. */
async function latency({ target, sink, perSecond, forMs }) {
  const everyMs = 1_000 / perSecond;
  const count = Math.floor(forMs / everyMs);
  return await withUsers(target, MAIN_CONCURRENCY, async (users) => {
    const ids = await forEach({ users, items: Array.from({ length: count }), act: (user) => user.ask() });
    await sleep(WEBHOOK_SETTLE_MS);
    const answeredAt = new Map();
    const lags = [];
    sink.onMessage = (body, receivedAt) => {
      const { data } = JSON.parse(body);
      lags.push(receivedAt - answeredAt.get(data.id));
    };
    const startedAt = performance.now();
    const items = ids.map((id, index) => ({ id, due: startedAt + index * everyMs }));
    const act = async (user, { id, due }) => {
      await sleep(Math.max(due - performance.now(), 0));
      answeredAt.set(id, performance.now());
      user.checkAnswer(await user.answer(id));
    };
    await forEach({ users, items, act });
    await sleep(WEBHOOK_SETTLE_MS);
    if (lags.length !== count) throw new Error(`of ${count} messages ${lags.length} came`);
    return lags;
  });
}

async function subscribe(origin, key, webhook) {
  const response = await fetch(`${origin}/v1/webhooks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(webhook),
  });
  if (response.status !== 201) throw new Error(`no webhook: ${await response.text()}`);
}
