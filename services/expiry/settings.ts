import { KAFKA_SETTINGS } from '#bus';
import { LISTEN_SETTINGS, LOG_SETTINGS, REQUIRED_DATABASE_SETTINGS } from '#service';

/** What `main.ts` reads from its environment. */
export const SETTINGS = {
  ...LISTEN_SETTINGS,
  ...REQUIRED_DATABASE_SETTINGS,
  ...KAFKA_SETTINGS,
  ...LOG_SETTINGS,
} as const;
