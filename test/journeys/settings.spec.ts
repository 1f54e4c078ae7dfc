import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { launchInVain } from '../support/journeys/launch.js';
import { SettledProcess } from '../support/settled-process.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

describe('a bad value stops the process with one line that names the variable and what is accepted:', () => {
  test.each([
    ['PORT', 'http'],
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', '80.5'],
    ['PORT', '0x50'],
    ['HOST', 'not a host'],
    ['DATABASE_URL', 'nonsense'],
    ['DATABASE_URL', 'mysql://localhost/x'],
    ['SETTLED_ADMIN_KEY', 'short'],
    ['SETTLED_ADMIN_KEY', 'has a space amid enough characters'],
    ['AUTH_JWKS_URL', 'nonsense'],
    ['AUTH_JWKS_URL', 'file:///etc/passwd'],
    ['LOG_LEVEL', 'loud'],
    ['KAFKA_BROKERS', 'localhost'],
    ['KAFKA_BROKERS', 'kafka://localhost:9092'],
    ['KAFKA_BROKERS', 'localhost:99999'],
    ['WEBHOOKS_ALLOW_PRIVATE', '10.0.0.1'],
    ['WEBHOOKS_RETRY_SCHEDULE', '5,soon'],
    ['WEBHOOKS_TIMEOUT_MS', '0'],
    ['WEBHOOKS_SECRET_KEY', 'c2hvcnQ='],
    ['KAFKA_TLS', 'yes'],
    ['KAFKA_SASL_MECHANISM', 'kerberos'],
    ['KAFKA_QUESTIONS_TOPIC', 'with a space'],
    ['KAFKA_PARTITIONS', '0'],
    ['KAFKA_REPLICATION', 'all'],
  ])('%s=%s', async (name, value) => {
    const { code, lines } = await launchInVain({ DATABASE_URL: database.url, [name]: value });
    expect(lines).toStrictEqual([expect.stringContaining(name)]);
    expect(lines[0]?.length).toBeGreaterThan(name.length + 20);
    expect(code).not.toBe(0);
    expect(code).not.toBeNull();
  });

  test.each([
    ['KAFKA_SASL_MECHANISM', { KAFKA_SASL_MECHANISM: 'plain' }],
    ['KAFKA_SASL_MECHANISM', { KAFKA_SASL_MECHANISM: 'scram-sha-256', KAFKA_SASL_USERNAME: 'settled' }],
    ['KAFKA_OUTCOMES_TOPIC', { KAFKA_QUESTIONS_TOPIC: 'same', KAFKA_OUTCOMES_TOPIC: 'same' }],
    ['KAFKA_RELAY_TOPIC', { KAFKA_RELAY_TOPIC: 'settled.questions.v1.dlq' }],
    ['KAFKA_TLS_CA_FILE', { KAFKA_TLS: 'true', KAFKA_TLS_CA_FILE: '/no/such/file' }],
  ])('%s that does not fit: %j', async (name, settings) => {
    const environment = { DATABASE_URL: database.url, KAFKA_BROKERS: '127.0.0.1:1', ...settings };
    const { code, lines } = await launchInVain(environment as Record<string, string>);
    expect(lines).toStrictEqual([expect.stringContaining(`settled: ${name}: `)]);
    expect(code).toBe(1);
  });

  test('and does not print a secret', async () => {
    const { lines } = await launchInVain({ DATABASE_URL: database.url, SETTLED_ADMIN_KEY: 'hush-hush' });
    expect(lines.join('\n')).not.toContain('hush-hush');
    const other = await launchInVain({ DATABASE_URL: 'postgres//me:hush-hush@localhost/x' });
    expect(other.lines.join('\n')).not.toContain('hush-hush');
  });

  test('one line for each bad value', async () => {
    const { code, lines } = await launchInVain({ DATABASE_URL: database.url, PORT: 'x', LOG_LEVEL: 'loud' });
    expect(code).not.toBe(0);
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.length).toBeLessThanOrEqual(2);
    expect(lines.some((line) => /PORT|LOG_LEVEL/.test(line))).toBe(true);
  });

  test('a port that is taken', async () => {
    const server = await SettledProcess.start({ DATABASE_URL: database.url });
    const { port } = new URL(server.url);
    const { code, lines } = await launchInVain({ DATABASE_URL: database.url, PORT: port });
    expect(code).not.toBe(0);
    expect(lines.join('\n')).toContain(port);
    expect((await server.call('GET', '/healthz')).status).toBe(200);
    expect(await server.stop()).toBe(0);
  });
});

describe('a server', () => {
  test('with PORT=0 picks a free port, another one each', async () => {
    const settings = { DATABASE_URL: database.url, PORT: '0' };
    const servers = [await SettledProcess.start(settings), await SettledProcess.start(settings)];
    for (const { url } of servers) expect(url).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d*$/);
    expect(new Set(servers.map(({ url }) => url)).size).toBe(2);
    for (const server of servers) expect((await server.call('GET', '/healthz')).status).toBe(200);
    for (const server of servers) await server.stop();
  });

  test('with HOST listens there and nowhere else', async () => {
    const server = await SettledProcess.start({ DATABASE_URL: database.url, HOST: '127.0.0.2' });
    const { port } = new URL(server.url);
    expect((await fetch(`http://127.0.0.2:${port}/healthz`)).status).toBe(200);
    await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow();
    await server.stop();
  });

  test('takes the admin key that it is given, of 24 characters or more', async () => {
    const adminKey = 'k'.repeat(24);
    const server = await SettledProcess.start({ DATABASE_URL: database.url }, adminKey);
    expect((await server.key('agent:x', ['ask'])).key).toMatch(/\S/);
    await server.stop();
  });

  test('takes another admin key at its next start', async () => {
    for (const adminKey of ['f'.repeat(30), 'n'.repeat(30)]) {
      const server = await SettledProcess.start({ DATABASE_URL: database.url }, adminKey);
      await server.key('agent:x', ['ask']);
      await server.stop();
    }
  });
});
