import 'reflect-metadata';
import type { DynamicModule } from '@nestjs/common';
import type { CustomTransportStrategy } from '@nestjs/microservices';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type pg from 'pg';
import type { BusHealth } from '#bus';
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
  newestVersion,
  Readiness,
  type Registry,
  RouteTable,
  type Shutdown,
  within,
} from '#platform';
import { ServiceModule } from './service.module.js';
import type { ServiceSettings } from './settings.js';
import { VERSION } from './version.js';

/** SIGTERM gives requests this long to finish; with what comes after, all is over in ten seconds. */
const DRAIN_MS = 7_000;
const STOP_MS = 1_000;
/** Connections that may wait to be accepted; one too many is tried again by its client's kernel after a whole second. */
const BACKLOG_CONNECTIONS = 4_096;

export interface Database {
  readonly connection: pg.ClientConfig;
  readonly pool: pg.Pool;
}

/** What the services of one process are built over. */
export interface ServiceParts extends Database {
  readonly settings: ServiceSettings;
  readonly log: EventLog;
  readonly logger: Logger;
  readonly authenticator: Authenticator;
  readonly metrics: Registry;
  readonly readiness: Readiness;
  /** What a service starts beside its module, it adds here. */
  readonly shutdown: Shutdown;
}

/** A service as it runs in a process, alone or next to others. */
export interface Service {
  readonly module: DynamicModule;
  /** Its consumer groups, by what readiness calls them. */
  readonly consumers?: Readonly<Record<string, CustomTransportStrategy & { health(): BusHealth }>>;
}

export interface ServiceProcess {
  readonly settings: ServiceSettings;
  readonly shutdown: Shutdown;
  /** Default: the one that `DATABASE_URL` names. */
  readonly openDatabase?: (logger: Logger) => Promise<Database>;
  /** Runs before anything reads the database: migrations, say. */
  readonly prepare?: (database: Database) => Promise<void>;
  readonly services: readonly ((parts: ServiceParts) => Promise<Service>)[];
}

/** Starts services in this process; what has started by then is stopped by `shutdown`, also when the rest fails. */
export async function startServices(options: ServiceProcess): Promise<string> {
  const { settings, shutdown } = options;
  const logger = createLogger(settings.LOG_LEVEL);
  const database = await (options.openDatabase?.(logger) ?? databaseOf(settings));
  const { connection, pool } = database;
  shutdown.add(() => within(STOP_MS, pool.end()));
  await options.prepare?.(database);
  await requireSchema(pool);
  const log = new EventLog({ pool, connection });
  await log.start();
  shutdown.add(() => within(STOP_MS, log.stop()));
  const readiness = new Readiness();
  readiness.add('database', () => checkSchema(pool));
  readiness.add('log', () => checkTail(log));
  const authenticator = new Authenticator(pool, await tokenVerifier(settings));
  const metrics = createMetrics();
  const parts = { ...database, settings, log, logger, authenticator, metrics, readiness, shutdown };
  const services = await Promise.all(options.services.map((service) => service(parts)));
  const app = await createApp(services, parts);
  await app.startAllMicroservices();
  await app.listen({ port: settings.PORT, host: settings.HOST, backlog: BACKLOG_CONNECTIONS });
  shutdown.add(() => within(DRAIN_MS, app.close()));
  shutdown.add(() => readiness.stopping());
  const { port } = app.getHttpServer().address() as { port: number };
  return `http://${reachable(settings.HOST)}:${port}`;
}

async function createApp(
  services: readonly Service[],
  { authenticator, logger, metrics, readiness }: ServiceParts,
): Promise<NestFastifyApplication> {
  const routes = new RouteTable();
  const imports = services.map(({ module }) => module);
  const module = ServiceModule.of({ imports, readiness, routes, metrics, version: VERSION });
  const app = await createHttpApp({ module, authenticator, logger, metrics, routes });
  for (const { consumers = {} } of services) {
    for (const [name, strategy] of Object.entries(consumers)) {
      readiness.add(name, () => strategy.health());
      app.connectMicroservice({ strategy });
    }
  }
  return app;
}

/** Where this machine reaches what listens on an address. */
function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

function databaseOf(settings: ServiceSettings): Database {
  if (settings.DATABASE_URL === undefined) throw new Error('DATABASE_URL: must be set');
  const connection = connectionSettings(settings.DATABASE_URL);
  return { connection, pool: createPool(connection, settings.DATABASE_POOL_SIZE) };
}

async function tokenVerifier({ AUTH_JWKS_URL, AUTH_ISSUER, AUTH_AUDIENCE }: ServiceSettings) {
  if (AUTH_JWKS_URL === undefined) return undefined;
  return await createTokenVerifier({
    jwksUrl: new URL(AUTH_JWKS_URL),
    issuer: AUTH_ISSUER,
    audience: AUTH_AUDIENCE,
  });
}

async function requireSchema(pool: pg.Pool): Promise<void> {
  const { ok, detail } = await checkSchema(pool);
  if (!ok) throw new Error(`${detail}: migrate first, with services/questions/migrate.js`);
}

async function checkSchema(pool: pg.Pool): Promise<Health> {
  const applied = await appliedVersion(pool);
  const needed = newestVersion(migrationsFolder);
  if (applied >= needed) return { ok: true, detail: '' };
  return { ok: false, detail: `the schema of the database is at ${applied}, not at ${needed}` };
}

function checkTail({ tail }: EventLog): Health {
  return tail.failing ? { ok: false, detail: 'the log cannot be read' } : { ok: true, detail: '' };
}
