import 'reflect-metadata';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type pg from 'pg';
import { LogTransport } from '#bus';
import { envelopeAt } from '#domain';
import { EventLog, migrationsFolder } from '#eventlog';
import {
  Authenticator,
  appliedVersion,
  connectionSettings,
  createHttpApp,
  createLogger,
  createMetrics,
  createPool,
  createTokenVerifier,
  type Health,
  type Logger,
  migrate,
  newestVersion,
  Readiness,
  RouteTable,
  Shutdown,
  within,
} from '#platform';
import { ExpiryModule } from '../expiry/expiry.module.js';
import { EXPIRY_GROUP } from '../expiry/group.js';
import { QuestionsModule } from '../questions/questions.module.js';
import { installAdminKey } from './admin-key.js';
import { HostModule } from './host.module.js';
import type { HostSettings } from './settings.js';
import { VERSION } from './version.js';

/** SIGTERM gives requests this long to finish; with what comes after, all is over in ten seconds. */
const DRAIN_MS = 7_000;
const STOP_MS = 1_000;
/** Connections that may wait to be accepted; one too many is tried again by its client's kernel after a whole second. */
const BACKLOG_CONNECTIONS = 4_096;

export interface Host {
  readonly url: string;
  /** Where the admin key is, when this installation keeps it in a file. */
  readonly adminKeyFile: string | undefined;
}

/** Starts everything in this process; what has started by then is stopped by `shutdown`, also when the rest fails. */
export async function startHost(settings: HostSettings, shutdown: Shutdown): Promise<Host> {
  const logger = createLogger(settings.LOG_LEVEL);
  const { connection, pool } = await openDatabase(settings, logger, shutdown);
  shutdown.add(() => within(STOP_MS, pool.end()));
  await migrate(connection, migrationsFolder);
  const adminKeyFile = await installAdminKey(pool, settings.SETTLED_ADMIN_KEY, settings.DATA_DIR);
  const log = new EventLog({ pool, connection });
  await log.start();
  shutdown.add(() => within(STOP_MS, log.stop()));
  const readiness = new Readiness();
  readiness.add('database', () => checkSchema(pool));
  readiness.add('log', () => checkTail(log));
  const app = await createApp({ settings, logger, log, readiness });
  await app.startAllMicroservices();
  await app.listen({ port: settings.PORT, host: settings.HOST, backlog: BACKLOG_CONNECTIONS });
  shutdown.add(() => within(DRAIN_MS, app.close()));
  shutdown.add(() => readiness.stopping());
  const { port } = app.getHttpServer().address() as { port: number };
  return { url: `http://${reachable(settings.HOST)}:${port}`, adminKeyFile };
}

/** Where this machine reaches what listens on an address. */
function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

/** A pool on the configured database, or on an embedded one that it follows when that has to be started again. */
async function openDatabase(settings: HostSettings, logger: Logger, shutdown: Shutdown): Promise<Database> {
  if (settings.DATABASE_URL !== undefined) {
    const connection = connectionSettings(settings.DATABASE_URL);
    return { connection, pool: createPool(connection, settings.DATABASE_POOL_SIZE) };
  }
  // Loaded only where it is needed.
  const { EmbeddedDatabase } = await import('./embedded-database.js');
  const embedded = new EmbeddedDatabase(settings.DATA_DIR, logger);
  shutdown.add(() => embedded.stop());
  const pool = createPool(embedded.connection, settings.DATABASE_POOL_SIZE);
  await embedded.start((connection) => Object.assign(pool.options, connection));
  return { connection: embedded.connection, pool };
}

interface Database {
  readonly connection: pg.ClientConfig;
  readonly pool: pg.Pool;
}

interface AppParts {
  readonly settings: HostSettings;
  readonly logger: Logger;
  readonly log: EventLog;
  readonly readiness: Readiness;
}

async function createApp({ settings, logger, log, readiness }: AppParts): Promise<NestFastifyApplication> {
  const authenticator = new Authenticator(log.pool, await tokenVerifier(settings));
  const metrics = createMetrics();
  const routes = new RouteTable();
  const imports = [
    QuestionsModule.over({ log, authenticator, metrics, logger }),
    ExpiryModule.over({ log, logger, readiness }),
  ];
  const module = HostModule.of({ imports, readiness, routes, metrics, version: VERSION });
  const app = await createHttpApp({ module, authenticator, logger, metrics, routes });
  // What is overdue already is the sweep's: the consumer has to hear of new deadlines only.
  const deadlines = new LogTransport({ log, group: EXPIRY_GROUP, project: envelopeAt, from: 'end' });
  readiness.add('expiry consumer', () => deadlines.health());
  app.connectMicroservice({ strategy: deadlines });
  return app;
}

async function tokenVerifier({ AUTH_JWKS_URL, AUTH_ISSUER, AUTH_AUDIENCE }: HostSettings) {
  if (AUTH_JWKS_URL === undefined) return undefined;
  return await createTokenVerifier({
    jwksUrl: new URL(AUTH_JWKS_URL),
    issuer: AUTH_ISSUER,
    audience: AUTH_AUDIENCE,
  });
}

async function checkSchema(pool: pg.Pool): Promise<Health> {
  const applied = await appliedVersion(pool);
  const needed = newestVersion(migrationsFolder);
  if (applied >= needed) return { ok: true, detail: '' };
  return { ok: false, detail: `the schema is at ${applied}, not at ${needed}` };
}

function checkTail({ tail }: EventLog): Health {
  return tail.failing ? { ok: false, detail: 'the log cannot be read' } : { ok: true, detail: '' };
}
