import 'reflect-metadata';
import type pg from 'pg';
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
  migrate,
  newestVersion,
  Readiness,
  RouteTable,
} from '#platform';
import { Sweeper } from '../expiry/sweeper.js';
import { QuestionsModule } from '../questions/questions.module.js';
import { installAdminKey } from './admin-key.js';
import { HostModule } from './host.module.js';
import { startEmbeddedPostgres } from './postgres/embedded-postgres.js';
import type { HostSettings } from './settings.js';

export interface Host {
  readonly url: string;
  /** Where the admin key is, when this installation keeps it in a file. */
  readonly adminKeyFile: string | undefined;
  stop(): Promise<void>;
}

export async function startHost(settings: HostSettings): Promise<Host> {
  const logger = createLogger(settings.LOG_LEVEL);
  const embedded =
    settings.DATABASE_URL === undefined
      ? await startEmbeddedPostgres({ dataDir: settings.DATA_DIR, log: (line) => logger.info(line) })
      : undefined;
  const connection = connectionSettings(settings.DATABASE_URL ?? embedded?.connection ?? '');
  await migrate(connection, migrationsFolder);
  const pool = createPool(connection, settings.DATABASE_POOL_SIZE);
  const log = new EventLog({ pool, connection });
  await log.start();
  const adminKeyFile = await installAdminKey(pool, settings.SETTLED_ADMIN_KEY, settings.DATA_DIR);
  const authenticator = new Authenticator(pool, tokenVerifier(settings));
  const sweeper = new Sweeper(log, logger);
  const readiness = new Readiness();
  readiness.add('database', () => checkDatabase(pool));
  const routes = new RouteTable();
  const metrics = createMetrics();
  const app = await createHttpApp({
    module: HostModule.of({
      imports: [QuestionsModule.over(log, authenticator)],
      readiness,
      routes,
      metrics,
      version: '0.1.0',
    }),
    authenticator,
    logger,
    metrics,
    routes,
  });
  await sweeper.start();
  await app.listen(settings.PORT, settings.HOST);
  const address = app.getHttpServer().address() as { port: number };
  return {
    url: `http://127.0.0.1:${address.port}`,
    adminKeyFile,
    async stop() {
      readiness.stopping();
      await app.close();
      await sweeper.stop();
      await log.stop();
      await pool.end();
      await embedded?.stop();
    },
  };
}

function tokenVerifier({ AUTH_JWKS_URL, AUTH_ISSUER, AUTH_AUDIENCE }: HostSettings) {
  if (AUTH_JWKS_URL === undefined) return undefined;
  return createTokenVerifier({
    jwksUrl: new URL(AUTH_JWKS_URL),
    issuer: AUTH_ISSUER,
    audience: AUTH_AUDIENCE,
  });
}

async function checkDatabase(pool: pg.Pool) {
  const applied = await appliedVersion(pool);
  const needed = newestVersion(migrationsFolder);
  if (applied >= needed) return { ok: true, detail: '' };
  return { ok: false, detail: `the schema is at ${applied}, not at ${needed}` };
}
