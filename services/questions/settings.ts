import { KAFKA_SETTINGS } from '#bus';
import {
  ADMIN_KEY,
  AUTH_SETTINGS,
  LISTEN_SETTINGS,
  LOG_SETTINGS,
  REQUIRED_DATABASE_SETTINGS,
} from '#service';

/** What `main.ts` reads from its environment. */
export const SETTINGS = {
  ...LISTEN_SETTINGS,
  ...REQUIRED_DATABASE_SETTINGS,
  SETTLED_ADMIN_KEY: {
    schema: ADMIN_KEY.optional(),
    about: 'The admin key to install at start, 24 characters or more',
  },
  ...AUTH_SETTINGS,
  ...KAFKA_SETTINGS,
  ...LOG_SETTINGS,
} as const;

/** What `migrate.ts` reads. */
export const MIGRATION_SETTINGS = { DATABASE_URL: REQUIRED_DATABASE_SETTINGS.DATABASE_URL } as const;
