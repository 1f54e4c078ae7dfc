import { envelopeAt } from '#domain';
import { consumerOf, type Service, type ServiceParts, VERSION } from '#service';
import { WEBHOOKS_GROUP } from './group.js';
import { SecretBox } from './secret-box.js';
import { keyInDatabase } from './secret-key.js';
import type { WebhookSettings } from './settings.js';
import { WebhooksModule } from './webhooks.module.js';

/** Tells platforms of events, signed. */
export async function webhooksService(parts: ServiceParts, settings: WebhookSettings): Promise<Service> {
  const { pool } = parts;
  const box = new SecretBox(settings.WEBHOOKS_SECRET_KEY ?? (await keyInDatabase(pool)));
  return {
    module: WebhooksModule.over({ ...parts, box, settings, version: VERSION }),
    consumers: {
      // A webhook takes what is committed after it was made: from the start on nothing is missed, and nothing too much made.
      'webhooks consumer': await consumerOf(parts, {
        group: WEBHOOKS_GROUP,
        from: 'start',
        project: envelopeAt,
      }),
    },
  };
}
