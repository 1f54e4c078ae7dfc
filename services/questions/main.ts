import { migrationsFolder } from '#eventlog';
import { installAdminKey, migrate, readSettings } from '#platform';
import { runProcess, startServices } from '#service';
import { questionsService } from './service.js';
import { SETTINGS } from './settings.js';

await runProcess('settled questions', async (environment, shutdown) => {
  const settings = readSettings(SETTINGS, environment);
  const url = await startServices({
    settings,
    shutdown,
    prepare: async ({ connection, pool }) => {
      await migrate(connection, migrationsFolder);
      if (settings.SETTLED_ADMIN_KEY !== undefined) await installAdminKey(pool, settings.SETTLED_ADMIN_KEY);
    },
    services: [questionsService],
  });
  return { url };
});
