import type pg from 'pg';
import type { CreateWebhookBody, RateLimit, UpdateWebhookBody, Webhook } from '#contracts';

type Client = Pick<pg.ClientBase, 'query'>;

/** What is kept of a pair of keys. */
export interface SealedKeyPair {
  readonly sealed: Buffer;
  readonly publicKey: string;
}

const LIVE = 'tenant = $1 AND id = $2 AND deleted_at IS NULL';
const END_OF_LOG = '(SELECT coalesce(max(position), 0) FROM events)';
const instant = (column: string) => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
const COLUMNS = `id, url, events, description, headers, enabled, disabled_reason AS "disabledReason",
  ${instant('disabled_at')} AS "disabledAt", ordered, max_concurrency AS "maxConcurrency", rate_limit AS "rateLimit",
  rate_seconds AS "rateSeconds", ed25519 IS NOT NULL AS ed25519, public_key AS "publicKey",
  ${instant('created_at')} AS "createdAt", ${instant('updated_at')} AS "updatedAt"`;

const INSERT = `INSERT INTO webhooks (id, tenant, url, events, description, headers, enabled, disabled_reason, disabled_at,
    ordered, max_concurrency, rate_limit, rate_seconds, ed25519, public_key, active_after, complete_to)
  SELECT new_uuid7(), $1, $2, $3, $4, $5, $6, $7, CASE WHEN $6 THEN NULL ELSE clock_timestamp() END,
    $8, $9, $10, $11, $12, $13, log.position, log.position
  FROM ${END_OF_LOG} AS log(position)
  RETURNING ${COLUMNS}`;
const FIND = `SELECT ${COLUMNS} FROM webhooks WHERE ${LIVE}`;
const LIST = `SELECT ${COLUMNS} FROM webhooks WHERE tenant = $1 AND deleted_at IS NULL AND ($2::uuid IS NULL OR id < $2)
  ORDER BY id DESC LIMIT $3`;
// What happened before it is enabled, or before it wants something, is none of its.
const UPDATE = `UPDATE webhooks SET url = $3, events = $4, description = $5, headers = $6, enabled = $7,
    disabled_reason = CASE WHEN $7 THEN NULL WHEN enabled THEN 'requested' ELSE disabled_reason END,
    disabled_at = CASE WHEN $7 THEN NULL WHEN enabled THEN clock_timestamp() ELSE disabled_at END,
    failing_since = CASE WHEN $7 AND NOT enabled THEN NULL ELSE failing_since END,
    failures = CASE WHEN $7 AND NOT enabled THEN 0 ELSE failures END,
    active_after = CASE WHEN $7 AND NOT enabled THEN ${END_OF_LOG} ELSE active_after END,
    complete_to = CASE WHEN $7 AND NOT enabled OR $8 AND NOT ordered OR NOT events @> $4 THEN ${END_OF_LOG}
      ELSE complete_to END,
    ordered = $8, max_concurrency = $9, rate_limit = $10, rate_seconds = $11,
    ed25519 = CASE WHEN $12 THEN $13::bytea ELSE ed25519 END,
    public_key = CASE WHEN $12 THEN $14 ELSE public_key END,
    updated_at = clock_timestamp()
  WHERE ${LIVE}
  RETURNING ${COLUMNS}`;
// Against being deleted or changed.
const HOLD = `SELECT ${COLUMNS} FROM webhooks WHERE ${LIVE} FOR KEY SHARE`;
const LOCK = `SELECT ${COLUMNS} FROM webhooks WHERE ${LIVE} FOR UPDATE`;
const DELETE = `UPDATE webhooks SET deleted_at = clock_timestamp(), enabled = false WHERE ${LIVE}`;
const DELETE_SECRETS = 'DELETE FROM webhook_secrets WHERE webhook = $1';
const CANCEL = `UPDATE webhook_deliveries SET status = 'cancelled', scheduled_at = NULL, next_attempt_at = NULL, manual = 0,
    completed_at = clock_timestamp()
  WHERE id IN (
    SELECT id FROM webhook_deliveries WHERE webhook = $1 AND status = 'pending' ORDER BY id FOR NO KEY UPDATE)`;
const DISABLE = `UPDATE webhooks SET enabled = false, disabled_reason = $2, disabled_at = clock_timestamp()
  WHERE id = $1 AND enabled AND deleted_at IS NULL RETURNING tenant, ${COLUMNS}`;
const SECRET = `SELECT sealed FROM webhook_secrets WHERE webhook = $1 ORDER BY number DESC LIMIT 1`;
const ADD_SECRET = `INSERT INTO webhook_secrets (webhook, number, sealed)
  SELECT $1, coalesce(max(number), 0) + 1, $2 FROM webhook_secrets WHERE webhook = $1`;
const LIMIT_SECRETS = `UPDATE webhook_secrets SET until = clock_timestamp() + make_interval(secs => $2)
  WHERE webhook = $1 AND until IS NULL RETURNING ${instant('until')} AS until`;
const FORGET_SECRETS = 'DELETE FROM webhook_secrets WHERE webhook = $1 AND until <= clock_timestamp()';

interface Row extends Omit<Webhook, 'headers' | 'rateLimit'> {
  readonly headers: string;
  readonly rateLimit: number | null;
  readonly rateSeconds: number | null;
}

/** Webhooks as rows. Those of other tenants, and deleted ones, are not there. */
export class WebhookStore {
  constructor(private readonly pool: pg.Pool) {}

  async insert(
    client: Client,
    tenant: string,
    body: CreateWebhookBody,
    keys: SealedKeyPair | undefined,
  ): Promise<Webhook> {
    const { rows } = await client.query<Row>(INSERT, [
      tenant,
      body.url,
      body.events,
      body.description,
      JSON.stringify(body.headers),
      body.enabled,
      body.enabled ? null : 'requested',
      body.ordered,
      body.maxConcurrency,
      body.rateLimit?.limit ?? null,
      body.rateLimit?.seconds ?? null,
      keys?.sealed ?? null,
      keys?.publicKey ?? null,
    ]);
    return webhookOf(rows[0] as Row);
  }

  async find(tenant: string, id: string): Promise<Webhook | undefined> {
    const { rows } = await this.pool.query<Row>(FIND, [tenant, id]);
    return rows[0] && webhookOf(rows[0]);
  }

  /** As it stays until the end of the transaction. */
  async hold(client: Client, tenant: string, id: string): Promise<Webhook | undefined> {
    const { rows } = await client.query<Row>(HOLD, [tenant, id]);
    return rows[0] && webhookOf(rows[0]);
  }

  /** Newest first, from the one after `before` on. */
  async list(tenant: string, before: string | undefined, limit: number): Promise<Webhook[]> {
    const { rows } = await this.pool.query<Row>(LIST, [tenant, before ?? null, limit]);
    return rows.map(webhookOf);
  }

  /** Must be in a transaction. `keysFor` makes a pair when there has to be a new one. */
  async update(
    client: Client,
    [tenant, id]: readonly [tenant: string, id: string],
    change: UpdateWebhookBody,
    keysFor: () => SealedKeyPair,
  ): Promise<Webhook | undefined> {
    const { rows: found } = await client.query<Row>(LOCK, [tenant, id]);
    if (found[0] === undefined) return undefined;
    const before = webhookOf(found[0]);
    const after = { ...before, ...defined(change) };
    const newKeys = after.ed25519 !== before.ed25519;
    const keys = newKeys && after.ed25519 ? keysFor() : undefined;
    const { rows } = await client.query<Row>(UPDATE, [
      tenant,
      id,
      after.url,
      after.events,
      after.description,
      JSON.stringify(after.headers),
      after.enabled,
      after.ordered,
      after.maxConcurrency,
      after.rateLimit?.limit ?? null,
      after.rateLimit?.seconds ?? null,
      newKeys,
      keys?.sealed ?? null,
      keys?.publicKey ?? null,
    ]);
    return webhookOf(rows[0] as Row);
  }

  /** With its secrets, and without the deliveries that were still to come. Must be in a transaction. */
  async delete(client: Client, tenant: string, id: string): Promise<boolean> {
    const { rowCount } = await client.query(LOCK, [tenant, id]);
    if (rowCount !== 1) return false;
    await client.query(DELETE, [tenant, id]);
    await client.query(DELETE_SECRETS, [id]);
    await client.query(CANCEL, [id]);
    return true;
  }

  /** Undefined when it is disabled already. */
  async disable(
    client: Client,
    id: string,
    reason: 'gone' | 'failing',
  ): Promise<{ readonly tenant: string; readonly webhook: Webhook } | undefined> {
    const { rows } = await client.query<Row & { tenant: string }>(DISABLE, [id, reason]);
    if (rows[0] === undefined) return undefined;
    const { tenant, ...row } = rows[0];
    return { tenant, webhook: webhookOf(row) };
  }

  /** The newest secret, sealed. */
  async secret(id: string): Promise<Buffer | undefined> {
    const { rows } = await this.pool.query<{ sealed: Buffer }>(SECRET, [id]);
    return rows[0]?.sealed;
  }

  async addSecret(client: Client, id: string, sealed: Buffer): Promise<void> {
    await client.query(ADD_SECRET, [id, sealed]);
  }

  /** The newest secret signs for so much longer; those before it for as long as they were to. Returns until when. */
  async limitSecrets(client: Client, id: string, seconds: number): Promise<string> {
    await client.query(FORGET_SECRETS, [id]);
    const { rows } = await client.query<{ until: string }>(LIMIT_SECRETS, [id, seconds]);
    return rows[0]?.until ?? '';
  }
}

function webhookOf({ headers, rateLimit, rateSeconds, ...row }: Row): Webhook {
  const rate: RateLimit | null =
    rateLimit === null || rateSeconds === null ? null : { limit: rateLimit, seconds: rateSeconds };
  return { ...row, headers: JSON.parse(headers) as Record<string, string>, rateLimit: rate };
}

function defined<T extends object>(change: T): Partial<{ [K in keyof T]: Exclude<T[K], undefined> }> {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)) as never;
}
