import type pg from 'pg';

export interface OverdueQuestion {
  readonly tenant: string;
  readonly envelope: string;
  readonly defaultOption: string | null;
}

export interface OverduePage {
  readonly questions: readonly OverdueQuestion[];
  /** The database's clock. */
  readonly now: string;
  /** Milliseconds from `now` until the next deadline; negative when it has passed; null when nothing is pending. */
  readonly nextInMs: number | null;
}

const OVERDUE = 'SELECT tenant, envelope, default_option AS "defaultOption" FROM read_overdue($1, $2)';
const CLOCK = `SELECT to_char(c.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS now,
    ceil(extract(epoch FROM next_deadline() - c.at) * 1000)::float8 AS next
  FROM (SELECT date_trunc('milliseconds', clock_timestamp()) AS at OFFSET 0) c`;

/** The pending questions whose deadline has passed by the database's clock, most overdue first. */
export async function readOverdue(pool: pg.Pool, limit: number): Promise<OverduePage> {
  const clock = await pool.query<{ now: string; next: number | null }>({
    name: 'overdue_clock',
    text: CLOCK,
  });
  const { now, next } = clock.rows[0] as { now: string; next: number | null };
  if (next === null || next > 0) return { questions: [], now, nextInMs: next };
  const { rows } = await pool.query<OverdueQuestion>({
    name: 'overdue',
    text: OVERDUE,
    values: [now, limit],
  });
  return { questions: rows, now, nextInMs: next };
}
