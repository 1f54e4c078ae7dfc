import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.js';
import { migrate, newestVersion } from '../platform/migrate.js';
import { migrationsFolder } from './migrations.js';

const APPLIED = 'SELECT version::int FROM settled_schema WHERE version > 0 ORDER BY version';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase({ empty: true });
});
afterAll(() => database.drop());

async function query({ connection }: TestDatabase, sql: string): Promise<unknown[]> {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

describe('migrating', () => {
  test('ten processes at once leave one schema, each version applied once', async () => {
    await Promise.all(Array.from({ length: 10 }, () => migrate(database.connection, migrationsFolder)));
    const versions = Array.from({ length: newestVersion(migrationsFolder) }, (_, index) => ({
      version: index + 1,
    }));
    expect(await query(database, APPLIED)).toEqual(versions);
    expect(await query(database, 'SELECT count(*)::int FROM access_revision')).toEqual([{ count: 1 }]);
  });

  test('changes nothing when there is nothing to do', async () => {
    const before = await query(database, 'SELECT * FROM settled_schema');
    await migrate(database.connection, migrationsFolder);
    expect(await query(database, 'SELECT * FROM settled_schema')).toEqual(before);
  });

  test('leaves the schema of a newer version alone', async () => {
    const newer = await createTestDatabase();
    await query(
      newer,
      `INSERT INTO settled_schema (version, name, md5, run_at) VALUES (999, 'future', 'x', now())`,
    );
    await query(newer, 'ALTER TABLE events ADD COLUMN from_the_future text');
    await migrate(newer.connection, migrationsFolder);
    expect(await query(newer, `${APPLIED} DESC LIMIT 1`)).toEqual([{ version: 999 }]);
    await newer.drop();
  });

  test('that fails leaves the database as it was', async () => {
    const fresh = await createTestDatabase({ empty: true });
    const folder = mkdtempSync(join(tmpdir(), 'settled-migrations-'));
    writeFileSync(join(folder, '001.do.good.sql'), 'CREATE TABLE good ()');
    writeFileSync(join(folder, '002.do.bad.sql'), 'CREATE TABLE bad (); SELECT 1 / 0');
    await expect(migrate(fresh.connection, folder)).rejects.toThrow('division by zero');
    const tables = `SELECT count(*)::int FROM pg_tables WHERE schemaname = 'public'`;
    expect(await query(fresh, tables)).toEqual([{ count: 0 }]);
    rmSync(folder, { recursive: true });
    await fresh.drop();
  });
});
