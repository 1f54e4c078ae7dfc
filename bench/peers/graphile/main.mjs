import { createHmac } from 'node:crypto';
import { Logger, run } from 'graphile-worker';
import pg from 'pg';
import { Agent, request } from 'undici';
import { onTermination } from '../on-termination.mjs';

const SECRET = Buffer.from(process.env.SECRET, 'base64');
const CONCURRENCY = Number(process.env.CONCURRENCY);
const POOL_SIZE = Number(process.env.POOL_SIZE ?? 10);
const TIMEOUT_MS = 15_000;
const BATCHED = {
  localQueue: { size: 4 * CONCURRENCY },
  completeJobBatchDelay: 25,
  failJobBatchDelay: 25,
};

/** A sender as one would write it: one job for each message, signed by Standard Webhooks, tried again by the queue. */
const agent = new Agent({ headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS });
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: POOL_SIZE });
pool.on('error', () => {});
pool.on('connect', (client) => client.on('error', () => {}));

async function send({ id, url, body }) {
  const timestamp = Math.floor(Date.now() / 1_000);
  const mac = createHmac('sha256', SECRET).update(`${id}.${timestamp}.${body}`).digest('base64');
  const response = await request(url, {
    dispatcher: agent,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': `v1,${mac}`,
    },
    body,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  await response.body.dump();
  if (response.statusCode < 200 || response.statusCode > 299) throw new Error(`HTTP ${response.statusCode}`);
}

const runner = await run({
  pgPool: pool,
  noHandleSignals: true,
  logger: new Logger(() => () => {}),
  taskList: { [process.env.TASK]: send },
  concurrency: CONCURRENCY,
  ...(process.env.BATCHED === 'true' && { preset: { worker: BATCHED } }),
});
onTermination(async () => {
  await runner.stop();
  await pool.end();
  await agent.close();
});
console.log('ready');
