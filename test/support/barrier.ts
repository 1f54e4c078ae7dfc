import pg from 'pg';
import { eventually } from './eventually.js';

/** What every append takes first. */
const WRITERS_LOCK = 'SELECT pg_advisory_xact_lock(7301, 1)';
const WAITING = `SELECT count(*)::integer AS waiting FROM pg_locks l JOIN pg_database d ON d.oid = l.database
  WHERE l.locktype = 'advisory' AND NOT l.granted AND d.datname = current_database()`;

export interface Barrier {
  /** The open transaction. */
  readonly client: pg.Client;
  /** Resolves when that many transactions stand at the barrier. */
  waiting(count: number): Promise<void>;
  /** Commits, and whoever waits goes on. */
  release(): Promise<void>;
  /** Rolls back, and whoever waits goes on. */
  abandon(): Promise<void>;
}

/** An open transaction that holds a lock (the writers' one) until it is released: appends stand still behind it. */
export async function raiseBarrier(connection: pg.ClientConfig, lock = WRITERS_LOCK): Promise<Barrier> {
  const client = new pg.Client({ ...connection, idle_in_transaction_session_timeout: 0 });
  await client.connect();
  await client.query('BEGIN');
  await client.query(lock);
  const finish = async (how: string) => {
    await client.query(how);
    await client.end();
  };
  return {
    client,
    waiting: async (count) => {
      await eventually(
        async () => (await client.query<{ waiting: number }>(WAITING)).rows[0]?.waiting === count,
      );
    },
    release: () => finish('COMMIT'),
    abandon: () => finish('ROLLBACK'),
  };
}
