import { migrationsFolder } from '#eventlog';
import { createPool, installAdminKey, type Logger, migrate, type Shutdown } from '#platform';
import { type Database, runProcess, type Service, type ServiceParts, startServices } from '#service';
import { expiryService } from '../expiry/service.js';
import { questionsService } from '../questions/service.js';
import { webhooksService } from '../webhooks/service.js';
import { adminKeyOf, webhooksKeyOf } from './installation-keys.js';
import { type HostSettings, hostSettings } from './settings.js';

await runProcess('settled', async (environment, shutdown) => {
  const settings = hostSettings(environment);
  let notice: string | undefined;
  const url = await startServices({
    settings,
    shutdown,
    ...(settings.DATABASE_URL === undefined && {
      openDatabase: (logger) => openEmbedded(settings, logger, shutdown),
    }),
    prepare: async ({ connection, pool }) => {
      await migrate(connection, migrationsFolder);
      const { secret, file } = await adminKeyOf(settings);
      await installAdminKey(pool, secret);
      if (file !== undefined) notice = `settled admin key in ${file}`;
    },
    services: [questionsService, expiryService, (parts) => openWebhooks(parts, settings)],
  });
  return { url, notice };
});

async function openWebhooks(parts: ServiceParts, settings: HostSettings): Promise<Service> {
  const embedded = settings.DATABASE_URL === undefined;
  const key = settings.WEBHOOKS_SECRET_KEY ?? (embedded ? await webhooksKeyOf(settings) : undefined);
  return await webhooksService(parts, { ...settings, WEBHOOKS_SECRET_KEY: key });
}

/** A pool on an embedded database, which follows it when that has to be started again. */
async function openEmbedded(
  { DATA_DIR, DATABASE_POOL_SIZE }: HostSettings,
  logger: Logger,
  shutdown: Shutdown,
): Promise<Database> {
  // Loaded only where it is needed.
  const { EmbeddedDatabase } = await import('./embedded-database.js');
  const embedded = new EmbeddedDatabase(DATA_DIR, logger);
  shutdown.add(() => embedded.stop());
  const pool = createPool(embedded.connection, DATABASE_POOL_SIZE);
  await embedded.start((connection) => Object.assign(pool.options, connection));
  return { connection: embedded.connection, pool };
}
