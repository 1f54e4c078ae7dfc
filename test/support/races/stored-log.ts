import pg from 'pg';

/** An event as its row has it: `at` in UTC with microseconds, `data` and `hash` byte for byte. */
export interface StoredEvent {
  readonly position: number;
  readonly id: string;
  readonly tenant: string;
  readonly stream: string;
  readonly version: number;
  readonly type: string;
  readonly schema: number;
  readonly at: string;
  readonly actor: string;
  readonly correlation: string;
  readonly data: string;
  readonly hash: string;
}

export interface StoredView {
  readonly tenant: string;
  readonly id: string;
  readonly version: number;
  readonly state: string;
  readonly asker: string;
  readonly addressee: string;
  readonly conversation: string | null;
  readonly expiresAt: string;
  readonly defaultOption: string | null;
  readonly envelope: string;
}

export interface StoredOpenQuestion {
  readonly tenant: string;
  readonly id: string;
  readonly expiresAt: string;
}

export interface StoredResult {
  readonly result: string;
  readonly at: string;
}

/** Everything that tells the story of questions, as it was at one moment. */
export interface StoredLog {
  readonly events: readonly StoredEvent[];
  readonly views: readonly StoredView[];
  readonly open: readonly StoredOpenQuestion[];
  readonly results: readonly StoredResult[];
}

/** With microseconds, so that an instant that is not on a millisecond shows. */
const instant = (column: string) => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

const EVENTS = `SELECT position::float8, id, tenant, stream, version, type, schema, ${instant('at')} AS at, actor,
  correlation, data, encode(hash, 'hex') AS hash FROM events ORDER BY events.position`;
const VIEWS = `SELECT tenant, id, version, state, asker, addressee, conversation,
  ${instant('expires_at')} AS "expiresAt", default_option AS "defaultOption", envelope FROM questions`;
const OPEN = `SELECT tenant, id, ${instant('expires_at')} AS "expiresAt" FROM open_questions`;
const RESULTS = `SELECT result, ${instant('at')} AS at FROM idempotency_keys`;

/** Reads the whole log and what is kept of it elsewhere, in one snapshot: writers may go on meanwhile. */
export async function readStoredLog(connection: pg.ClientConfig): Promise<StoredLog> {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const { rows: events } = await client.query<StoredEvent>(EVENTS);
    const { rows: views } = await client.query<StoredView>(VIEWS);
    const { rows: open } = await client.query<StoredOpenQuestion>(OPEN);
    const { rows: results } = await client.query<StoredResult>(RESULTS);
    return { events, views, open, results };
  } finally {
    await client.end();
  }
}
