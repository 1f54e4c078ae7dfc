import { z } from 'zod';
import { integerSetting, readSettings, type Settings, urlSetting } from '#platform';

const ADMIN_KEY_MIN_CHARACTERS = 24;

/** Everything that can be set from the environment; the README's table is checked against it. */
export const SETTINGS = {
  PORT: {
    schema: integerSetting(0, 65_535, 3_000),
    about: 'HTTP port; `0` picks a free one. Default `3000`',
  },
  HOST: {
    schema: z
      .string()
      .regex(/^[\w.:%-]+$/, 'must be an address or a host name')
      .default('127.0.0.1'),
    about: 'Address to listen on; `0.0.0.0` for every interface. Default `127.0.0.1`',
  },
  DATA_DIR: {
    schema: z.string().default('./.settled'),
    about: 'Where the embedded database and the admin key live. Default `./.settled`',
  },
  DATABASE_URL: {
    schema: urlSetting(['postgres', 'postgresql']).optional(),
    about: 'PostgreSQL (15 or later) to use instead of the embedded one',
  },
  DATABASE_POOL_SIZE: {
    schema: integerSetting(1, 1_000, 10),
    about: 'Connections to the database, besides one that listens. Default `10`',
  },
  SETTLED_ADMIN_KEY: {
    schema: z
      .string()
      .min(ADMIN_KEY_MIN_CHARACTERS, `must have at least ${ADMIN_KEY_MIN_CHARACTERS} characters`)
      .regex(/^[\x21-\x7e]*$/, 'must be printable ASCII without spaces')
      .optional(),
    about:
      'The admin key to install at start, 24 characters or more. Unset: one is made at first start in `DATA_DIR`',
  },
  AUTH_JWKS_URL: {
    schema: urlSetting(['https', 'http']).optional(),
    about: 'Accept JWTs that a key of this JWKS has signed, besides keys',
  },
  AUTH_ISSUER: { schema: z.string().optional(), about: 'The `iss` that those JWTs must have' },
  AUTH_AUDIENCE: { schema: z.string().optional(), about: 'The `aud` that those JWTs must have' },
  LOG_LEVEL: {
    schema: z
      .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
        error: 'must be trace, debug, info, warn, error, fatal or silent',
      })
      .default('info'),
    about: 'How much is logged, as JSON on stderr. Default `info`',
  },
} as const;

export type HostSettings = Settings<typeof SETTINGS>;

/** Reads the settings of a process; throws `InvalidSetting` for the first bad one. */
export function hostSettings(environment: NodeJS.ProcessEnv): HostSettings {
  return readSettings(SETTINGS, environment);
}
