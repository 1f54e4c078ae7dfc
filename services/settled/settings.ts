import { z } from 'zod';
import { KAFKA_SETTINGS } from '#bus';
import { readSettings, type Settings } from '#platform';
import { ADMIN_KEY, AUTH_SETTINGS, DATABASE_SETTINGS, LISTEN_SETTINGS, LOG_SETTINGS } from '#service';
import { WEBHOOK_SETTINGS } from '../webhooks/settings.js';

/** Everything that can be set from the environment; the README's table is checked against it. */
export const SETTINGS = {
  ...LISTEN_SETTINGS,
  DATA_DIR: {
    schema: z.string().default('./.settled'),
    about: 'Where the embedded database and the admin key live. Default `./.settled`',
  },
  ...DATABASE_SETTINGS,
  SETTLED_ADMIN_KEY: {
    schema: ADMIN_KEY.optional(),
    about:
      'The admin key to install at start, 24 characters or more. Unset: one is made at first start in `DATA_DIR`',
  },
  ...AUTH_SETTINGS,
  ...LOG_SETTINGS,
  ...WEBHOOK_SETTINGS,
  ...KAFKA_SETTINGS,
} as const;

export type HostSettings = Settings<typeof SETTINGS>;

/** Reads the settings of a process; throws `InvalidSetting` for the first bad one. */
export function hostSettings(environment: NodeJS.ProcessEnv): HostSettings {
  return readSettings(SETTINGS, environment);
}
