import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { startPostgresOver } from '../database/postgres.mjs';
import { temporaryDirectory } from '../processes/temporary.mjs';

const BATCH = 50_000;
const SEARCH_DEPTH = 4;
const DATABASE_USER = 'settled';
const STATEMENT_TIMEOUT_MS = 120_000;

/**
 * Fills the log of a stopped Settled with copies of the one answered question that is in it, so that it holds `count`
 * settled questions: their events with positions and hashes that hold, and their rows in the view. The consumers'
 * checkpoints move to the new end, as they would have. `data` is the directory that Settled was given.
 */
export async function growLog({ data, count, progress }) {
  const cluster = clusterBelow(data, SEARCH_DEPTH);
  if (cluster === null) throw new Error(`there is no PostgreSQL cluster below ${data}`);
  const server = await startPostgresOver({
    data: cluster,
    directory: temporaryDirectory('grow'),
    user: DATABASE_USER,
  });
  const { stop, ...connection } = server;
  const client = new pg.Client({ ...connection, statement_timeout: STATEMENT_TIMEOUT_MS });
  try {
    await client.connect();
    await client.query(readFileSync(new URL('grow-log.sql', import.meta.url), 'utf8'));
    for (let made = 1; made < count; ) {
      const size = Math.min(BATCH, count - made);
      await client.query('SELECT pg_temp.grow($1)', [size]);
      made += size;
      progress(`${made} settled questions in the log`);
    }
    await client.query('UPDATE checkpoints SET position = (SELECT max(position) FROM events)');
    await client.query('VACUUM (ANALYZE)');
    await client.query('CHECKPOINT');
  } finally {
    await client.end();
    await stop();
  }
}

function clusterBelow(directory, depth) {
  if (existsSync(join(directory, 'PG_VERSION'))) return directory;
  if (depth === 0) return null;
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    const found = clusterBelow(join(directory, entry.name), depth - 1);
    if (found !== null) return found;
  }
  return null;
}
