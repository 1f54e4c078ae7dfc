import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';

const SCHEMA_TABLE = 'settled_schema';
const LOCK_TIMEOUT_MS = 60_000;
const GLOB_SPECIAL = /[*?[\]{}()!+@\\]/g;

/**
 * Brings the schema of a database up to the numbered SQL files of a folder (`001.do.name.sql`), all in one transaction.
 * Any number of processes may start at once: the first migrates, the others wait for its lock and find it done.
 */
export async function migrate(connection: pg.ClientConfig, folder: string): Promise<void> {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    if ((await appliedVersion(client)) >= newestVersion(folder)) return;
    await client.query(`BEGIN; SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}; SET LOCAL statement_timeout = 0`);
    await client.query('SELECT pg_advisory_xact_lock(7301, 0)');
    await apply(client, folder);
    await client.query('COMMIT');
  } finally {
    await client.end();
  }
}

/** The highest migration that a database has; 0 of an empty one. */
export async function appliedVersion(client: Pick<pg.ClientBase, 'query'>): Promise<number> {
  const table = await client.query<{ there: boolean }>('SELECT to_regclass($1) IS NOT NULL AS there', [
    SCHEMA_TABLE,
  ]);
  if (!table.rows[0]?.there) return 0;
  const { rows } = await client.query<{ version: string }>(
    `SELECT max(version) AS version FROM ${SCHEMA_TABLE}`,
  );
  return Number(rows[0]?.version ?? 0);
}

/** The highest migration that a folder holds. */
export function newestVersion(folder: string): number {
  const versions = readdirSync(folder).map((file) => Number(file.split('.')[0]));
  return Math.max(0, ...versions.filter(Number.isInteger));
}

async function apply(client: pg.Client, folder: string): Promise<void> {
  // Loaded only when there is something to do: most starts have nothing.
  const { default: Postgrator } = await import('postgrator');
  const migrator = new Postgrator({
    driver: 'pg',
    migrationPattern: join(folder.replace(GLOB_SPECIAL, '\\$&'), '*.sql'),
    schemaTable: SCHEMA_TABLE,
    execQuery: (sql) => client.query(sql),
  });
  // Another process may have been faster, or have gone further than this version knows.
  const target = newestVersion(folder);
  if ((await migrator.getDatabaseVersion()) < target) await migrator.migrate(String(target));
}
