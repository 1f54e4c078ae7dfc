import type pg from 'pg';
import type { LoggedEvent } from './entry.js';

interface Row extends Omit<LoggedEvent, 'position'> {
  readonly position: string;
}

const INSTANT = `'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'`;

// The envelope is at hand where the view still stands at the version of the event.
const COLUMNS = `e.position, e.id, e.tenant, e.stream, e.version, e.type, e.schema, e.data, e.actor, e.correlation,
  to_char(e.at AT TIME ZONE 'UTC', ${INSTANT}) AS at, encode(e.hash, 'hex') AS hash, q.envelope,
  q.default_option AS "defaultOption"`;
const VIEW = `LEFT JOIN questions q ON q.tenant = e.tenant AND q.version = e.version
  AND q.id = CASE WHEN left(e.stream, 9) = 'question:' THEN substr(e.stream, 10)::uuid END`;

const READ_ALL = `SELECT ${COLUMNS} FROM events e ${VIEW} WHERE e.position > $1 ORDER BY e.position LIMIT $2`;
const READ_TENANT = `SELECT ${COLUMNS} FROM events e ${VIEW}
  WHERE e.tenant = $3 AND e.position > $1 ORDER BY e.position LIMIT $2`;
const READ_STREAM = `SELECT ${COLUMNS} FROM events e ${VIEW}
  WHERE e.tenant = $1 AND e.stream = $2 ORDER BY e.version LIMIT $3`;
const HEAD = 'SELECT coalesce((SELECT position FROM events ORDER BY position DESC LIMIT 1), 0) AS position';

/** Events after a position, in position order, of every tenant. */
export async function readAll(pool: pg.Pool, after: number, limit: number): Promise<LoggedEvent[]> {
  const { rows } = await pool.query<Row>({ name: 'read_all', text: READ_ALL, values: [after, limit] });
  return rows.map(eventOf);
}

/** Events of one tenant after a position, in position order. */
export async function readTenant(pool: pg.Pool, tenant: string, page: Page): Promise<LoggedEvent[]> {
  const values = [page.after, page.limit, tenant];
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
