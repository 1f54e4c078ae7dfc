import type pg from 'pg';

export interface StoredConversation {
  readonly tenant: string;
  readonly id: string;
  /** JSON text, as it was written with the last event. */
  readonly state: string;
}

export interface LapsedPage {
  readonly conversations: readonly StoredConversation[];
  /** The database's clock. */
  readonly now: string;
  /** Milliseconds from `now` until the next lapse; negative when it has passed; null when nothing can lapse. */
  readonly nextInMs: number | null;
}

// The clock is a row of its own, so that it is there when nothing is found.
const READ = `SELECT to_char(c.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS now, v.state
  FROM (SELECT date_trunc('milliseconds', clock_timestamp()) AS at OFFSET 0) c
  LEFT JOIN conversations v ON v.tenant = $1 AND v.id = $2`;
const LAPSED = 'SELECT tenant, id, state FROM read_lapsed($1, $2)';
const CLOCK = `SELECT to_char(c.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS now,
    ceil(extract(epoch FROM next_lapse() - c.at) * 1000)::float8 AS next
  FROM (SELECT date_trunc('milliseconds', clock_timestamp()) AS at OFFSET 0) c`;

/** The state of a conversation, null of one that nobody has mentioned, with the database's clock. */
export async function readConversation(
  pool: pg.Pool,
  { tenant, id }: Pick<StoredConversation, 'tenant' | 'id'>,
): Promise<{ state: string | null; now: string }> {
  const { rows } = await pool.query<{ state: string | null; now: string }>({
    name: 'conversation',
    text: READ,
    values: [tenant, id],
  });
  return rows[0] as { state: string | null; now: string };
}

/** The conversations of which something has lapsed by the database's clock, the most overdue first. */
export async function readLapsed(pool: pg.Pool, limit: number): Promise<LapsedPage> {
  const clock = await pool.query<{ now: string; next: number | null }>({ name: 'lapse_clock', text: CLOCK });
  const { now, next } = clock.rows[0] as { now: string; next: number | null };
  if (next === null || next > 0) return { conversations: [], now, nextInMs: next };
  const { rows } = await pool.query<StoredConversation>({
    name: 'lapsed',
    text: LAPSED,
    values: [now, limit],
  });
  return { conversations: rows, now, nextInMs: next };
}
