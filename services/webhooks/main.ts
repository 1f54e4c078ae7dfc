import { readSettings } from '#platform';
import { runProcess, startServices } from '#service';
import { webhooksService } from './service.js';
import { SETTINGS } from './settings.js';

await runProcess('settled webhooks', async (environment, shutdown) => {
  const settings = readSettings(SETTINGS, environment);
  const url = await startServices({
    settings,
    shutdown,
    services: [(parts) => webhooksService(parts, settings)],
  });
  return { url };
});
