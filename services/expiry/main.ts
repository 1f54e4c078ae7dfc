import { readSettings } from '#platform';
import { runProcess, startServices } from '#service';
import { expiryService } from './service.js';
import { SETTINGS } from './settings.js';

await runProcess('settled expiry', async (environment, shutdown) => ({
  url: await startServices({
    settings: readSettings(SETTINGS, environment),
    shutdown,
    services: [expiryService],
  }),
}));
