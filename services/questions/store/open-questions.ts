import type pg from 'pg';

const OPEN = `SELECT q.id, q.addressee, q.envelope FROM questions q
  JOIN open_questions o ON o.tenant = q.tenant AND o.id = q.id
  WHERE q.tenant = $1 AND q.addressee = ANY($2) AND q.state = 'pending' AND o.expires_at > statement_timestamp()
  ORDER BY q.id LIMIT $3`;
const SETTLED_SINCE = `SELECT e.position, q.id, q.addressee, q.envelope FROM events e
  JOIN questions q ON q.tenant = e.tenant
    AND q.id = CASE WHEN left(e.stream, 9) = 'question:' THEN substr(e.stream, 10)::uuid END
  WHERE e.tenant = $1 AND e.position > $2 AND e.version > 1 AND q.addressee = ANY($3)
  ORDER BY e.position LIMIT $4`;

export interface OpenQuestion {
  readonly id: string;
  readonly addressee: string;
  readonly envelope: string;
}

export interface SettledQuestion extends OpenQuestion {
  readonly position: string;
}

export interface Addressees {
  readonly tenant: string;
  readonly addressees: readonly string[];
}

/** The open questions of some addressees, oldest first; what is overdue is not open. */
export async function readOpen(
  pool: pg.Pool,
  { tenant, addressees }: Addressees,
  limit: number,
): Promise<OpenQuestion[]> {
  const { rows } = await pool.query<OpenQuestion>({
    name: 'open',
    text: OPEN,
    values: [tenant, addressees, limit],
  });
  return rows;
}

/** What was settled of theirs after a position, in the order in which it was. */
export async function readSettledSince(
  pool: pg.Pool,
  to: Addressees & { after: number; limit: number },
): Promise<SettledQuestion[]> {
  const values = [to.tenant, to.after, to.addressees, to.limit];
  const { rows } = await pool.query<SettledQuestion>(SETTLED_SINCE, values);
  return rows;
}
