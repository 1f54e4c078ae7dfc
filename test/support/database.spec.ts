import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { createTestDatabase, type TestDatabase } from './database.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

async function ask<T>(connection: pg.ClientConfig | string, sql: string): Promise<T | undefined> {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    return Object.values((await client.query(sql)).rows[0] ?? {})[0] as T;
  } finally {
    await client.end();
  }
}

describe('a test database', () => {
  test('has the schema of the log and nothing in it', async () => {
    expect(await ask(database.connection, 'SELECT count(*)::integer FROM events')).toBe(0);
  });

  test('is reached by its URL as well', async () => {
    expect(await ask(database.url, 'SELECT current_database()')).toBe(database.connection.database);
  });

  test("is nobody else's, also when several are made at once", async () => {
    const databases = await Promise.all([1, 2, 3, 4].map(() => createTestDatabase()));
    const names = await Promise.all(
      databases.map(({ connection }) => ask(connection, 'SELECT current_database()')),
    );
    await Promise.all(databases.map((one) => one.drop()));
    expect(new Set(names).size).toBe(4);
  });
});
