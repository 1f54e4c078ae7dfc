import type pg from 'pg';

const READ = 'SELECT position FROM checkpoints WHERE consumer = $1';
// A checkpoint never goes back: of two members that overlap for a moment, the one behind changes nothing.
const SAVE = `INSERT INTO checkpoints AS c (consumer, position) VALUES ($1, $2)
  ON CONFLICT (consumer) DO UPDATE SET position = excluded.position, updated_at = now()
  WHERE c.position < excluded.position`;
const BURY = `INSERT INTO dead_letters (consumer, position, attempts, error) VALUES ($1, $2, $3, $4)
  ON CONFLICT (consumer, position) DO NOTHING`;

/** The position that a consumer group has handled; 0 at first. */
export async function readCheckpoint(pool: pg.Pool, consumer: string): Promise<number> {
  const { rows } = await pool.query<{ position: string }>(READ, [consumer]);
  return Number(rows[0]?.position ?? 0);
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
