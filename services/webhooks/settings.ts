import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { KAFKA_SETTINGS } from '#bus';
import { integerSetting, type Settings } from '#platform';
import { AUTH_SETTINGS, LISTEN_SETTINGS, LOG_SETTINGS, REQUIRED_DATABASE_SETTINGS } from '#service';

const KEY_BYTES = 32;
const DELAY_MAX_SECONDS = 30 * 24 * 3_600;
const RETRIES_MAX = 100;
const RETRY_SCHEDULE = '5,300,1800,7200,18000,36000,50400,72000,86400';
const ANNOUNCE_SCHEDULE = '60,300,1800,7200,21600,86400';

const DELAY = /^\d{1,7}(\.\d{1,6})?$/;

/** Delays in seconds with commas between, as milliseconds. */
function scheduleSetting(byDefault: string) {
  return z
    .string()
    .default(byDefault)
    .refine(
      (text) =>
        listOf(text).every((delay) => DELAY.test(delay) && Number(delay) <= DELAY_MAX_SECONDS) &&
        listOf(text).length <= RETRIES_MAX,
      {
        error: `must be up to ${RETRIES_MAX} delays in seconds, each at most ${DELAY_MAX_SECONDS}, with commas between`,
      },
    )
    .transform((text) => listOf(text).map((delay) => Number(delay) * 1_000));
}

export const WEBHOOK_SETTINGS = {
  WEBHOOKS_ALLOW_PRIVATE: {
    schema: z
      .string()
      .default('')
      .transform((text) => listOf(text))
      .refine((ranges) => ranges.every((range) => ipaddr.isValidCIDR(range)), {
        error: 'must be CIDR ranges such as 10.0.0.0/8, with commas between',
      }),
    about: 'Private ranges that webhooks may reach all the same (CIDR, commas between). Default none',
  },
  WEBHOOKS_RETRY_SCHEDULE: {
    schema: scheduleSetting(RETRY_SCHEDULE),
    about: `Seconds before each retry of a webhook, ±20 %. Default \`${RETRY_SCHEDULE}\``,
  },
  WEBHOOKS_ANNOUNCE_SCHEDULE: {
    schema: scheduleSetting(ANNOUNCE_SCHEDULE).refine((delays) => delays.length > 0, {
      error: 'must have at least one delay',
    }),
    about: `Seconds before each further announcement of a continuation that nobody takes; the last one repeats. Default \`${ANNOUNCE_SCHEDULE}\``,
  },
  WEBHOOKS_TIMEOUT_MS: {
    schema: integerSetting(100, 300_000, 15_000),
    about: 'How long one attempt may take, all in all. Default `15000`',
  },
  WEBHOOKS_RETENTION_DAYS: {
    schema: integerSetting(1, 3_650, 30),
    about: 'How long deliveries are kept after they have ended. Default `30`',
  },
  WEBHOOKS_DISABLE_AFTER_SECONDS: {
    schema: integerSetting(1, 31_536_000, 432_000),
    about: 'A webhook of which every attempt has failed for so long is disabled. Default `432000`, five days',
  },
  WEBHOOKS_SECRET_KEY: {
    schema: z
      .string()
      .refine((text) => Buffer.from(text, 'base64').length === KEY_BYTES, {
        error: `must be ${KEY_BYTES} bytes in base64: openssl rand -base64 ${KEY_BYTES}`,
      })
      .transform((text): Buffer => Buffer.from(text, 'base64'))
      .optional(),
    about:
      "32 bytes in base64 that webhooks' secrets are encrypted with. Unset: made in `DATA_DIR`, with `DATABASE_URL` in the database",
  },
} as const;

export type WebhookSettings = Settings<typeof WEBHOOK_SETTINGS>;

/** What `main.ts` reads from its environment. */
export const SETTINGS = {
  ...LISTEN_SETTINGS,
  ...REQUIRED_DATABASE_SETTINGS,
  ...AUTH_SETTINGS,
  ...KAFKA_SETTINGS,
  ...WEBHOOK_SETTINGS,
  ...LOG_SETTINGS,
} as const;

function listOf(text: string): string[] {
  return text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
}
