import type pg from 'pg';

const READ = 'SELECT position FROM checkpoints WHERE consumer = $1';
// A checkpoint never goes back: of two members that overlap for a moment, the one behind changes nothing.
const SAVE = `INSERT INTO checkpoints AS c (consumer, position) VALUES ($1, $2)
  ON CONFLICT (consumer) DO UPDATE SET position = excluded.position, updated_at = now()
  WHERE c.position < excluded.position`;
// The row is made at once: a group that begins at the end would otherwise lose what comes before its first save.
const OPEN = `INSERT INTO checkpoints (consumer, position)
  SELECT $1, CASE WHEN $2 THEN coalesce(max(position), 0) ELSE 0 END FROM events
  ON CONFLICT (consumer) DO NOTHING`;
const BURY = `INSERT INTO dead_letters (consumer, position, attempts, error) VALUES ($1, $2, $3, $4)
  ON CONFLICT (consumer, position) DO NOTHING`;

/** The position that a consumer group has handled; 0 at first. */
export async function readCheckpoint(pool: pg.Pool, consumer: string): Promise<number> {
  const { rows } = await pool.query<{ position: string }>(READ, [consumer]);
  return Number(rows[0]?.position ?? 0);
}

/** The position to go on from; a group that is new begins before the first event, or after the last. */
export async function openCheckpoint(
  pool: pg.Pool,
  consumer: string,
  from: 'start' | 'end',
): Promise<number> {
  await pool.query(OPEN, [consumer, from === 'end']);
  return readCheckpoint(pool, consumer);
}

/** Records that everything up to a position was handled. */
export async function saveCheckpoint(pool: pg.Pool, consumer: string, position: number): Promise<void> {
  await pool.query(SAVE, [consumer, position]);
}

export interface DeadLetter {
  readonly consumer: string;
  readonly position: number;
  readonly attempts: number;
  readonly error: string;
}

/** Puts an event aside that a consumer group gave up on. */
export async function saveDeadLetter(pool: pg.Pool, letter: DeadLetter): Promise<void> {
  await pool.query(BURY, [letter.consumer, letter.position, letter.attempts, letter.error]);
}
