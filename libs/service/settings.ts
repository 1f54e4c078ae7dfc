import { z } from 'zod';
import { KAFKA_SETTINGS } from '#bus';
import { integerSetting, type Settings, urlSetting } from '#platform';

/** Where a process listens. */
export const LISTEN_SETTINGS = {
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
} as const;

const DATABASE_URL = urlSetting(['postgres', 'postgresql']);

export const DATABASE_SETTINGS = {
  DATABASE_URL: {
    schema: DATABASE_URL.optional(),
    about: 'PostgreSQL (15 or later) to use instead of the embedded one',
  },
  DATABASE_POOL_SIZE: {
    schema: integerSetting(1, 1_000, 10),
    about: 'Connections to the database, besides one that listens. Default `10`',
  },
} as const;

/** Of a service that has no embedded database to fall back on. */
export const REQUIRED_DATABASE_SETTINGS = {
  ...DATABASE_SETTINGS,
  DATABASE_URL: {
    schema: z.string({ error: 'must be set: this service needs a PostgreSQL' }).pipe(DATABASE_URL),
    about: 'PostgreSQL (15 or later) to use',
  },
} as const;

export const AUTH_SETTINGS = {
  AUTH_JWKS_URL: {
    schema: urlSetting(['https', 'http']).optional(),
    about: 'Accept JWTs that a key of this JWKS has signed, besides keys',
  },
  AUTH_ISSUER: { schema: z.string().optional(), about: 'The `iss` that those JWTs must have' },
  AUTH_AUDIENCE: { schema: z.string().optional(), about: 'The `aud` that those JWTs must have' },
} as const;

export const LOG_SETTINGS = {
  LOG_LEVEL: {
    schema: z
      .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
        error: 'must be trace, debug, info, warn, error, fatal or silent',
      })
      .default('info'),
    about: 'How much is logged, as JSON on stderr. Default `info`',
  },
} as const;

const ADMIN_KEY_MIN_CHARACTERS = 24;

export const ADMIN_KEY = z
  .string()
  .min(ADMIN_KEY_MIN_CHARACTERS, `must have at least ${ADMIN_KEY_MIN_CHARACTERS} characters`)
  .regex(/^[\x21-\x7e]*$/, 'must be printable ASCII without spaces');

/** What every process reads, whatever it serves. */
export type ServiceSettings = Settings<
  typeof LISTEN_SETTINGS & typeof DATABASE_SETTINGS & typeof LOG_SETTINGS & typeof KAFKA_SETTINGS
> &
  Partial<Settings<typeof AUTH_SETTINGS>>;
