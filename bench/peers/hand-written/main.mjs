import { readFileSync } from 'node:fs';
import Fastify from 'fastify';
import pg from 'pg';
import { startPostgres } from '../../database/postgres.mjs';
import { onTermination } from '../on-termination.mjs';
import { addRoutes } from './routes.mjs';
import { Store } from './store.mjs';
import { startSweep } from './sweep.mjs';
import { Waiters } from './waiters.mjs';

const POOL_SIZE = Number(process.env.POOL_SIZE ?? 10);
const BODY_LIMIT_BYTES = 65_536;

const keys = new Map([
  [`Bearer ${process.env.ASK_KEY}`, 'agent:bench'],
  [`Bearer ${process.env.ANSWER_KEY}`, 'user:ada'],
]);

const { stop: stopPostgres, ...connection } = await startPostgres(process.env.DATA_DIR);
const pool = new pg.Pool({ ...connection, max: POOL_SIZE });
await pool.query(readFileSync(new URL('schema.sql', import.meta.url), 'utf8'));

const store = new Store(pool);
const waiters = new Waiters();
const app = Fastify({ bodyLimit: BODY_LIMIT_BYTES });
addRoutes(app, { store, waiters, keys });
const stopSweep = startSweep(store, waiters);

onTermination(async () => {
  waiters.releaseAll();
  await app.close();
  await stopSweep();
  await pool.end();
  await stopPostgres();
});
const url = await app.listen({ port: Number(process.env.PORT ?? 0), host: '127.0.0.1' });
console.log(`ready url=${url}`);
