import type pg from 'pg';

/** A continuation that nobody has taken, and that is to be announced. */
export interface DueContinuation {
  readonly tenant: string;
  readonly conversation: string;
  readonly id: string;
  /** The event that began it. */
  readonly event: string;
  readonly position: string;
  /** RFC 3339. */
  readonly begunAt: string;
  /** How often it has been announced. */
  readonly announcements: number;
  /** JSON texts of the envelopes that are queued, joined by commas. */
  readonly answers: string | null;
}

const DUE = `SELECT k.tenant, k.conversation, k.id, k.event, k.position, k.announcements,
    to_char(k.begun_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "begunAt",
    (SELECT string_agg(q.envelope, ',' ORDER BY queued.nth)
     FROM json_array_elements(c.state::json -> 'queue') WITH ORDINALITY AS queued (owed, nth)
     JOIN questions q ON q.tenant = k.tenant AND q.id = (queued.owed ->> 'question')::uuid) AS answers
  FROM continuations k JOIN conversations c ON c.tenant = k.tenant AND c.id = k.conversation
  WHERE k.announce_at <= clock_timestamp() ORDER BY k.announce_at LIMIT $1`;
// Of two that announce at the same time one counts.
const ANNOUNCED = `UPDATE continuations
  SET announcements = announcements + 1, announce_at = clock_timestamp() + make_interval(secs => $5)
  WHERE tenant = $1 AND conversation = $2 AND id = $3 AND announcements = $4`;

/** The continuations that are to be announced by now, those that wait longest first. */
export async function dueContinuations(pool: pg.Pool, limit: number): Promise<DueContinuation[]> {
  const { rows } = await pool.query<DueContinuation>(DUE, [limit]);
  return rows;
}

/** Counts an announcement, and says after how many seconds the next one is due. One that was taken meanwhile stays gone. */
export async function countAnnouncement(
  pool: pg.Pool,
  { tenant, conversation, id, announcements }: DueContinuation,
  nextInSeconds: number,
): Promise<void> {
  await pool.query(ANNOUNCED, [tenant, conversation, id, announcements, nextInSeconds]);
}
