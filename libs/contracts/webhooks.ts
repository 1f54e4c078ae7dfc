import { z } from 'zod';
import { InstantSchema } from './envelope.js';
import { LIST_DEFAULT, LIST_MAX } from './queries.js';
import { integerInQuery, TimeSchema, text, token } from './text.js';

export const WEBHOOK_URL_MAX_CHARACTERS = 2_048;
export const WEBHOOK_DESCRIPTION_MAX_CHARACTERS = 500;
export const WEBHOOK_HEADERS_MAX = 20;
export const WEBHOOK_HEADER_MAX_CHARACTERS = 1_024;
export const WEBHOOK_CONCURRENCY_MAX = 100;
export const WEBHOOK_CONCURRENCY_DEFAULT = 10;
export const WEBHOOK_RATE_MAX = 10_000;
export const WEBHOOK_RATE_SECONDS_MAX = 3_600;
export const SECRET_OVERLAP_MAX_SECONDS = 604_800;
export const SECRET_OVERLAP_DEFAULT_SECONDS = 86_400;

/** What a webhook may ask for. */
export const WEBHOOK_EVENTS = [
  'question.asked',
  'question.answered',
  'question.expired',
  'question.cancelled',
  'conversation.continuation',
  'webhook.disabled',
] as const;
export const WEBHOOK_EVENTS_DEFAULT = [
  'question.answered',
  'question.expired',
  'question.cancelled',
] as const;
/** The type of a test message. It passes every filter. */
export const WEBHOOK_TEST = 'webhook.test';

const WebhookEventSchema = z.enum(WEBHOOK_EVENTS, { error: `must be one of ${WEBHOOK_EVENTS.join(', ')}` });

/**
 * By the URL alone; whether an address may be reached is the service's to judge.
 */
const WebhookUrlSchema = z
  .string()
  .max(WEBHOOK_URL_MAX_CHARACTERS, `must be at most ${WEBHOOK_URL_MAX_CHARACTERS} characters`)
  .superRefine((value, context) => {
    const refuse = (message: string) => context.addIssue({ code: 'custom', message });
    if (/[\p{Cc}\s]/u.test(value)) return refuse('must not contain spaces or control characters');
    if (!URL.canParse(value)) return refuse('must be an absolute https or http URL');
    if (!/^https?:\/\/[^/\\]/i.test(value)) return refuse('must begin with https:// or http:// and a host');
    const url = new URL(value);
    if (url.port === '0') return refuse('must not have the port 0');
    if (url.username !== '' || url.password !== '' || /^https?:\/*[^/?#]*@/i.test(value)) {
      return refuse('must not contain a user name or password: send them in headers');
    }
    if (value.includes('#')) refuse('must not have a fragment');
  });

/** A field name of RFC 9110, section 5.1. */
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,100}$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Framing, connection and what Settled says itself; see RFC 9110, section 7.6.1, and RFC 9112. */
const OWN_HEADERS = new Set([
  'host',
  'content-length',
  'content-type',
  'content-encoding',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'proxy-connection',
  'upgrade',
  'te',
  'trailer',
  'expect',
  'user-agent',
]);

const WebhookHeadersSchema = z.record(z.string(), z.string()).superRefine((headers, context) => {
  const names = Object.keys(headers);
  const refuse = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
  if (names.length > WEBHOOK_HEADERS_MAX) refuse([], `must be at most ${WEBHOOK_HEADERS_MAX} headers`);
  const seen = new Set<string>();
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase();
    if (!HEADER_NAME.test(name))
      refuse([name], "must be named by 1 to 100 letters, digits and !#$%&'*+-.^_`|~");
    else if (OWN_HEADERS.has(lower) || lower.startsWith('webhook-'))
      refuse([name], 'is set by Settled itself');
    else if (seen.has(lower)) refuse([name], 'must be there once, whatever its case');
    seen.add(lower);
    if (value.length > WEBHOOK_HEADER_MAX_CHARACTERS || !HEADER_VALUE.test(value)) {
      refuse(
        [name],
        `must be at most ${WEBHOOK_HEADER_MAX_CHARACTERS} characters of Latin-1 without line breaks`,
      );
    }
  }
});

export const RateLimitSchema = z
  .strictObject({
    limit: z.int().min(1, 'must be at least 1').max(WEBHOOK_RATE_MAX, `must be at most ${WEBHOOK_RATE_MAX}`),
    seconds: z
      .number()
      .min(0.1, 'must be at least 0.1')
      .max(WEBHOOK_RATE_SECONDS_MAX, `must be at most ${WEBHOOK_RATE_SECONDS_MAX}`),
  })
  .meta({ id: 'RateLimit' });

const fields = {
  url: WebhookUrlSchema,
  events: z
    .array(WebhookEventSchema)
    .min(1, 'must name at least one event')
    .transform((events) => [...new Set(events)]),
  description: text(1, WEBHOOK_DESCRIPTION_MAX_CHARACTERS).nullable(),
  headers: WebhookHeadersSchema,
  enabled: z.boolean(),
  ordered: z.boolean(),
  maxConcurrency: z
    .int()
    .min(1, 'must be at least 1')
    .max(WEBHOOK_CONCURRENCY_MAX, `must be at most ${WEBHOOK_CONCURRENCY_MAX}`),
  rateLimit: RateLimitSchema.nullable(),
  ed25519: z.boolean(),
};

/** Body of `POST /v1/webhooks`. */
export const CreateWebhookBodySchema = z
  .strictObject({
    url: fields.url,
    events: fields.events.default([...WEBHOOK_EVENTS_DEFAULT]),
    description: fields.description.default(null),
    headers: fields.headers.default({}),
    enabled: fields.enabled.default(true),
    ordered: fields.ordered.default(false),
    maxConcurrency: fields.maxConcurrency.default(WEBHOOK_CONCURRENCY_DEFAULT),
    rateLimit: fields.rateLimit.default(null),
    ed25519: fields.ed25519.default(false),
  })
  .meta({ id: 'CreateWebhook' });

/** Body of `PATCH /v1/webhooks/{id}`: what is not there stays as it is. */
export const UpdateWebhookBodySchema = z.strictObject(fields).partial().meta({ id: 'UpdateWebhook' });

/** Body of `POST /v1/webhooks/{id}/rotate-secret`. */
export const RotateSecretBodySchema = z
  .strictObject({
    overlapSeconds: z
      .number()
      .min(0, 'must be at least 0')
      .max(SECRET_OVERLAP_MAX_SECONDS, `must be at most ${SECRET_OVERLAP_MAX_SECONDS} seconds`)
      .default(SECRET_OVERLAP_DEFAULT_SECONDS),
  })
  .meta({ id: 'RotateSecret' });

export const WEBHOOK_DISABLED_REASONS = ['requested', 'gone', 'failing'] as const;

/** A webhook as everybody sees it who may: without its secrets. */
export const WebhookSchema = z
  .strictObject({
    id: z.uuid(),
    url: z.string(),
    events: z.array(WebhookEventSchema),
    description: z.string().nullable(),
    headers: z.record(z.string(), z.string()),
    enabled: z.boolean(),
    disabledReason: z.enum(WEBHOOK_DISABLED_REASONS).nullable(),
    disabledAt: InstantSchema.nullable(),
    ordered: z.boolean(),
    maxConcurrency: z.int(),
    rateLimit: RateLimitSchema.nullable(),
    ed25519: z.boolean(),
    publicKey: z.string().nullable().describe('`whpk_…`: verifies `v1a` signatures; null without `ed25519`'),
    createdAt: InstantSchema,
    updatedAt: InstantSchema,
  })
  .meta({ id: 'Webhook' });

export const CreatedWebhookSchema = WebhookSchema.extend({
  secret: z.string().describe('`whsec_…`: verifies `v1` signatures'),
}).meta({ id: 'CreatedWebhook' });

export const WebhookSecretSchema = z.strictObject({ secret: z.string() }).meta({ id: 'WebhookSecret' });

export const RotatedSecretSchema = z
  .strictObject({
    secret: z.string(),
    previousUntil: InstantSchema.describe('How long the secret before it signs as well'),
  })
  .meta({ id: 'RotatedSecret' });

export const DELIVERY_STATES = ['pending', 'delivered', 'failed', 'cancelled'] as const;
export const DeliveryStateSchema = z.enum(DELIVERY_STATES, {
  error: `must be one of ${DELIVERY_STATES.join(', ')}`,
});

export const DeliveryAttemptSchema = z
  .strictObject({
    at: InstantSchema,
    durationMs: z.int(),
    status: z.int().nullable().describe('Of the HTTP response; null when none came'),
    error: z.string().nullable().describe('The class of what went wrong, such as `timeout`; null at a 2xx'),
    response: z
      .strictObject({
        headers: z.record(z.string(), z.string()),
        body: z.string().describe('The first 4 KiB'),
      })
      .nullable(),
  })
  .meta({ id: 'DeliveryAttempt' });

export const DeliverySchema = z
  .strictObject({
    id: z.uuid().describe('Also the `webhook-id` of every attempt'),
    webhook: z.uuid(),
    event: z.uuid(),
    type: z.string(),
    status: DeliveryStateSchema,
    createdAt: InstantSchema,
    nextAttemptAt: InstantSchema.nullable(),
    attempts: z.array(DeliveryAttemptSchema),
  })
  .meta({ id: 'WebhookDelivery' });

const PageSchema = {
  limit: integerInQuery(1, LIST_MAX).default(LIST_DEFAULT),
  cursor: z.string().max(500).optional(),
};

export const WebhooksQuerySchema = z.strictObject(PageSchema);
export const WebhookListSchema = z.strictObject({
  data: z.array(WebhookSchema),
  nextCursor: z.string().nullable(),
});

export const DeliveriesQuerySchema = z.strictObject({
  status: DeliveryStateSchema.optional(),
  event: token(200).optional().describe('The id of an event, or a type of events'),
  ...PageSchema,
});
export const DeliveryListSchema = z.strictObject({
  data: z.array(DeliverySchema),
  nextCursor: z.string().nullable(),
});

/** Body of `POST /v1/webhooks/{id}/replay`: the deliveries that were made from `since` to before `until`. */
export const ReplayBodySchema = z
  .strictObject({
    since: TimeSchema,
    until: TimeSchema.optional(),
    status: z
      .enum(['pending', 'delivered', 'failed'], { error: 'must be pending, delivered or failed' })
      .optional(),
  })
  .refine(({ since, until }) => until === undefined || since < until, {
    error: 'must be after since',
    path: ['until'],
  })
  .meta({ id: 'ReplayWebhook' });
export const ReplayedSchema = z.strictObject({ queued: z.int() }).meta({ id: 'Replayed' });

export type WebhookEvent = z.infer<typeof WebhookEventSchema>;
export type CreateWebhookBody = z.output<typeof CreateWebhookBodySchema>;
export type UpdateWebhookBody = z.output<typeof UpdateWebhookBodySchema>;
export type Webhook = z.infer<typeof WebhookSchema>;
export type RateLimit = z.infer<typeof RateLimitSchema>;
export type DeliveryState = z.infer<typeof DeliveryStateSchema>;
export type DeliveryAttempt = z.infer<typeof DeliveryAttemptSchema>;
export type Delivery = z.infer<typeof DeliverySchema>;
export type DeliveriesQuery = z.infer<typeof DeliveriesQuerySchema>;
export type ReplayBody = z.infer<typeof ReplayBodySchema>;
