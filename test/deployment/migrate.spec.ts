import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { createTestDatabase } from '../support/database.js';
import { SettledProcess } from '../support/settled-process.js';

const PROGRAM = fileURLToPath(new URL('../../dist/services/questions/migrate.js', import.meta.url));

async function migrate(environment: Record<string, string>) {
  const child = spawn(process.execPath, [PROGRAM], { env: { PATH: process.env.PATH ?? '', ...environment } });
  const [output, errors, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  return { output, errors, status };
}

test('brings an empty database up to date and ends, also when several do so at once', async () => {
  const database = await createTestDatabase({ empty: true });
  try {
    const tooEarly = SettledProcess.start({ DATABASE_URL: database.url }, undefined, 'expiry');
    await expect(tooEarly).rejects.toThrow('ended before it was ready');
    const ends = await Promise.all([1, 2, 3].map(() => migrate({ DATABASE_URL: database.url })));
    for (const { output, errors, status } of ends) {
      expect([status, errors]).toEqual([0, '']);
      expect(output).toMatch(/^settled schema is at \d+\n$/);
    }
    // Which brings nothing up to date by itself.
    const expiry = await SettledProcess.start({ DATABASE_URL: database.url }, undefined, 'expiry');
    expect((await expiry.call('GET', '/readyz')).status).toBe(200);
    await expiry.stop();
  } finally {
    await database.drop();
  }
});

test.each([
  ['no database to migrate', {}, 'DATABASE_URL: must be set'],
  ['a bad address', { DATABASE_URL: 'mysql://here' }, 'DATABASE_URL: must be a URL'],
  ['a server that is not there', { DATABASE_URL: 'postgresql://127.0.0.1:1/settled' }, 'ECONNREFUSED'],
])('says in one line what is wrong, and fails: %s', async (_what, environment, reason) => {
  const { output, errors, status } = await migrate(environment as Record<string, string>);
  expect([status, output]).toEqual([1, '']);
  expect(errors).toMatch(/^settled: .+\n$/);
  expect(errors).toContain(reason);
});
