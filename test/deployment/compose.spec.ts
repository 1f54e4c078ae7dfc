import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { readSettings, type Setting } from '#platform';
import { SETTINGS as EXPIRY_SETTINGS } from '../../services/expiry/settings.js';
import { MIGRATION_SETTINGS, SETTINGS as QUESTIONS_SETTINGS } from '../../services/questions/settings.js';
import { SETTINGS as WEBHOOKS_SETTINGS } from '../../services/webhooks/settings.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { SettledProcess } from '../support/settled-process.js';
import {
  type ComposeService,
  composeServices,
  composeSource,
  copiedPaths,
  GIVEN,
  imageInstructions,
  pathOf,
  textOf,
} from './compose.js';

/** What each of our programs reads from its environment. */
const PROGRAMS: Readonly<Record<string, Record<string, Setting>>> = {
  'services/questions/main': QUESTIONS_SETTINGS,
  'services/expiry/main': EXPIRY_SETTINGS,
  'services/webhooks/main': WEBHOOKS_SETTINGS,
  'services/questions/migrate': MIGRATION_SETTINGS,
};

const SERVICES = ['questions', 'expiry', 'webhooks'];

const services = composeServices();
const ours = Object.entries(services).filter(([, { image }]) => image === 'settled');

function programOf({ command }: ComposeService): string {
  return /^dist\/(.+)\.js$/.exec(command?.[1] ?? '')?.[1] ?? '';
}

describe('docker-compose.yml', () => {
  test('is valid by the schema of the Compose Specification', () => {
    // Of compose-go 2.16.2, Apache License 2.0.
    const schema = JSON.parse(textOf('test/deployment/compose-spec.json'));
    const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
    validate(composeSource());
    expect(validate.errors).toBeNull();
    expect(validate({ services: { questions: { imagee: 'settled' } } })).toBe(false);
  });

  test.each(ours)('starts a program that there is: %s', (_name, service) => {
    expect(Object.keys(PROGRAMS)).toContain(programOf(service));
    expect(existsSync(pathOf(`${programOf(service)}.ts`))).toBe(true);
  });

  test.each(ours)('sets what its program reads, to what it takes: %s', (_name, service) => {
    const declared = PROGRAMS[programOf(service)] as Record<string, Setting>;
    expect(Object.keys(declared)).toEqual(expect.arrayContaining(Object.keys(service.environment)));
    const read = readSettings(declared, { ...imageEnvironment(), ...service.environment });
    expect(new URL(read.DATABASE_URL as string).hostname).toBe('postgres');
  });

  test('reaches its own PostgreSQL and Kafka, as they are set up', () => {
    const { POSTGRES_USER, POSTGRES_PASSWORD, POSTGRES_DB } = services.postgres?.environment ?? {};
    const database = `postgresql://${POSTGRES_USER}:${POSTGRES_PASSWORD}@postgres:5432/${POSTGRES_DB}`;
    const listeners = services.kafka?.environment.KAFKA_ADVERTISED_LISTENERS?.split(',');
    for (const [, { environment }] of ours) expect(environment.DATABASE_URL).toBe(database);
    for (const name of SERVICES) {
      expect(listeners).toContain(`INTERNAL://${services[name]?.environment.KAFKA_BROKERS}`);
    }
  });

  test('has no admin key of its own', () => {
    expect(services.questions?.environment.SETTLED_ADMIN_KEY).toBe(GIVEN);
  });

  test.each(Object.entries(services))('restarts %s and looks after it, or lets it end', (name, service) => {
    const ends = name === 'migrate';
    expect(service.restart).toBe(ends ? 'on-failure' : 'unless-stopped');
    expect(service.healthcheck === undefined).toBe(ends);
  });

  test.each(SERVICES)('starts %s only on a schema that is up to date', (name) => {
    expect(services[name]?.depends_on?.migrate).toEqual({ condition: 'service_completed_successfully' });
  });
});

describe('the health check of our services', () => {
  let database: TestDatabase;
  let settled: SettledProcess;
  beforeAll(async () => {
    database = await createTestDatabase();
    settled = await SettledProcess.start({ DATABASE_URL: database.url });
  });
  afterAll(async () => {
    await settled?.stop();
    await database?.drop();
  });

  test('succeeds while a service is ready, and fails when it is gone', async () => {
    const [, node, ...rest] = services.expiry?.healthcheck?.test ?? [];
    expect(node).toBe('node');
    const { origin, port } = new URL(settled.url);
    const check = () =>
      spawnSync(
        process.execPath,
        rest.map((text) => text.replace(':3000', `:${port}`)),
      ).status;
    expect(rest.join(' ')).toContain('http://127.0.0.1:3000/readyz');
    expect((await fetch(`${origin}/readyz`)).status).toBe(200);
    expect(check()).toBe(0);
    await settled.stop();
    expect(check()).toBe(1);
  });
});

describe('the image', () => {
  test('is run by somebody who is not root', () => {
    expect(imageInstructions()).toContainEqual(['USER', 'node']);
  });

  test('has a Node that is new enough', () => {
    const [, from] = imageInstructions()[0] ?? [];
    const major = Number(/^node:(\d+)-/.exec(from ?? '')?.[1]);
    expect(major).toBeGreaterThan(
      Number(/(\d+)\./.exec(JSON.parse(textOf('package.json')).engines.node)?.[1]),
    );
  });

  test('is made of files that are there and that its build may see', () => {
    const visible = textOf('.dockerignore').split('\n');
    for (const path of copiedPaths()) {
      expect([path, existsSync(pathOf(path))]).toEqual([path, true]);
      expect(visible).toContain(`!${path.split('/')[0]}`);
    }
  });
});

function imageEnvironment(): Record<string, string> {
  const values = imageInstructions().filter(([instruction]) => instruction === 'ENV');
  return Object.fromEntries(values.flatMap(([, pairs]) => pairs.split(' ').map((pair) => pair.split('='))));
}
