import type pg from 'pg';
import type { LoggedEvent } from './entry.js';

interface Row extends Omit<LoggedEvent, 'position'> {
  readonly position: string;
}

const READ_ALL = 'SELECT * FROM read_log($1, $2)';
const READ_TENANT = 'SELECT * FROM read_tenant($1, $2, $3)';
const READ_STREAM = 'SELECT * FROM read_stream($1, $2, $3)';
const HEAD = 'SELECT coalesce((SELECT position FROM events ORDER BY position DESC LIMIT 1), 0) AS position';

/** Events after a position, in position order, of every tenant. */
export async function readAll(pool: pg.Pool, after: number, limit: number): Promise<LoggedEvent[]> {
  const { rows } = await pool.query<Row>({ name: 'read_all', text: READ_ALL, values: [after, limit] });
  return rows.map(eventOf);
}

/** Events of one tenant after a position, in position order. */
export async function readTenant(pool: pg.Pool, tenant: string, page: Page): Promise<LoggedEvent[]> {
  const values = [tenant, page.after, page.limit];
  const { rows } = await pool.query<Row>({ name: 'read_tenant', text: READ_TENANT, values });
  return rows.map(eventOf);
}

/** The first `limit` events of a stream, oldest first. */
export async function readStream(pool: pg.Pool, stream: StreamKey, limit: number): Promise<LoggedEvent[]> {
  const values = [stream.tenant, stream.stream, limit];
  const { rows } = await pool.query<Row>({ name: 'read_stream', text: READ_STREAM, values });
  return rows.map(eventOf);
}

/** The position of the last event; 0 of an empty log. */
export async function readHead(client: Pick<pg.Pool, 'query'>): Promise<number> {
  const { rows } = await client.query<{ position: string }>(HEAD);
  return Number(rows[0]?.position);
}

export interface Page {
  readonly after: number;
  readonly limit: number;
}

export interface StreamKey {
  readonly tenant: string;
  readonly stream: string;
}

function eventOf(row: Row): LoggedEvent {
  return { ...row, position: Number(row.position) };
}
