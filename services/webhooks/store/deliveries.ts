import type pg from 'pg';
import type { DeliveriesQuery, Delivery, DeliveryAttempt, ReplayBody } from '#contracts';

type Client = Pick<pg.ClientBase, 'query'>;

const instant = (column: string) => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
const COLUMNS = `d.id, d.webhook, d.event, d.type, d.status, ${instant('d.created_at')} AS "createdAt",
  CASE WHEN d.status = 'pending' THEN ${instant('greatest(d.next_attempt_at, d.created_at)')} END AS "nextAttemptAt",
  (SELECT coalesce(json_agg(json_build_object('at', ${instant('a.at')}, 'durationMs', a.duration_ms,
      'status', a.status, 'error', a.error, 'headers', a.response_headers, 'body', a.response_body)
    ORDER BY a.at, a.number), '[]') FROM webhook_attempts a WHERE a.delivery = d.id) AS attempts`;
const FIND = `SELECT ${COLUMNS} FROM webhook_deliveries d WHERE d.tenant = $1 AND d.id = $2`;
const LIST = `SELECT ${COLUMNS} FROM webhook_deliveries d
  WHERE d.tenant = $1 AND d.webhook = $2 AND ($3::uuid IS NULL OR d.id < $3) AND ($4::text IS NULL OR d.status = $4)
    AND ($5::text IS NULL OR d.type = $5 OR d.event::text = lower($5))
  ORDER BY d.id DESC LIMIT $6`;
const INSERT_TEST = `WITH message AS (INSERT INTO webhook_messages (event, body) VALUES ($3, $5))
  INSERT INTO webhook_deliveries (id, webhook, tenant, event, type) VALUES (new_uuid7(), $1, $2, $3, $4) RETURNING id`;
const WEBHOOK_OF = 'SELECT webhook FROM webhook_deliveries WHERE tenant = $1 AND id = $2';
// One that is in flight is due again as soon as it is back.
const RETRY = `UPDATE webhook_deliveries SET status = 'pending', manual = manual + 1, next_attempt_at = '-infinity',
  completed_at = NULL WHERE tenant = $1 AND id = $2 AND status <> 'cancelled'`;
const REPLAY = `UPDATE webhook_deliveries SET status = 'pending', tries = 0, replays = replays + 1,
    scheduled_at = clock_timestamp(), completed_at = NULL,
    next_attempt_at = CASE WHEN manual > 0 THEN '-infinity' ELSE clock_timestamp() END
  WHERE id IN (
    SELECT id FROM webhook_deliveries
    WHERE webhook = $1 AND status <> 'cancelled' AND created_at >= $2 AND ($3::timestamptz IS NULL OR created_at < $3)
      AND ($4::text IS NULL OR status = $4)
    ORDER BY id FOR NO KEY UPDATE)`;
const FORGET = 'SELECT forget_deliveries(make_interval(days => $1), $2)::integer AS forgotten';

interface AttemptRow extends Omit<DeliveryAttempt, 'response'> {
  readonly headers: string | null;
  readonly body: string | null;
}
type Row = Omit<Delivery, 'attempts'> & { readonly attempts: readonly AttemptRow[] };

/** Deliveries and their attempts as rows. */
export class DeliveryStore {
  constructor(private readonly pool: pg.Pool) {}

  async find(tenant: string, id: string, client: Client = this.pool): Promise<Delivery | undefined> {
    const { rows } = await client.query<Row>(FIND, [tenant, id]);
    return rows[0] && deliveryOf(rows[0]);
  }

  /** Newest first, from the one after `before` on. */
  async list(
    [tenant, webhook]: readonly [tenant: string, webhook: string],
    { status, event }: Pick<DeliveriesQuery, 'status' | 'event'>,
    page: { readonly before: string | undefined; readonly limit: number },
  ): Promise<Delivery[]> {
    const values = [tenant, webhook, page.before ?? null, status ?? null, event ?? null, page.limit];
    const { rows } = await this.pool.query<Row>(LIST, values);
    return rows.map(deliveryOf);
  }

  /** One that no event is behind. Returns its id. */
  async insertTest(
    client: Client,
    {
      webhook,
      tenant,
      event,
      type,
      body,
    }: Readonly<Record<'webhook' | 'tenant' | 'event' | 'type' | 'body', string>>,
  ): Promise<string> {
    const { rows } = await client.query<{ id: string }>(INSERT_TEST, [webhook, tenant, event, type, body]);
    return (rows[0] as { id: string }).id;
  }

  async webhookOf(client: Client, tenant: string, id: string): Promise<string | undefined> {
    const { rows } = await client.query<{ webhook: string }>(WEBHOOK_OF, [tenant, id]);
    return rows[0]?.webhook;
  }

  /** Has it sent once more, before all others. False when it is cancelled. */
  async retry(client: Client, tenant: string, id: string): Promise<boolean> {
    const { rowCount } = await client.query(RETRY, [tenant, id]);
    return rowCount === 1;
  }

  /** Begins the schedule of deliveries anew; returns of how many. */
  async replay(client: Client, webhook: string, { since, until, status }: ReplayBody): Promise<number> {
    const { rowCount } = await client.query(REPLAY, [webhook, since, until ?? null, status ?? null]);
    return rowCount ?? 0;
  }

  /** Forgets up to `limit` that have ended so long ago, and deleted webhooks that have none left; returns how many. */
  async forget(days: number, limit: number): Promise<number> {
    const { rows } = await this.pool.query<{ forgotten: number }>(FORGET, [days, limit]);
    return rows[0]?.forgotten ?? 0;
  }
}

function deliveryOf({ attempts, ...row }: Row): Delivery {
  return {
    ...row,
    attempts: attempts.map(({ headers, body, ...attempt }) => ({
      ...attempt,
      response: headers === null ? null : { headers: JSON.parse(headers), body: body ?? '' },
    })),
  };
}
