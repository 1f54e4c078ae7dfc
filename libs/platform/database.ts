import pg from 'pg';

const CONNECT_TIMEOUT_MS = 5_000;
const STATEMENT_TIMEOUT_MS = 30_000;
/** Ends what the server does not: a connection that is silent because nobody is at its other end. */
const QUERY_TIMEOUT_MS = 35_000;
const LOCK_TIMEOUT_MS = 20_000;
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 30_000;
const IDLE_CONNECTION_MS = 60_000;

/** Connection settings with every timeout named; `database` is a URL or node-postgres settings. */
export function connectionSettings(database: string | pg.ClientConfig): pg.ClientConfig {
  const where = typeof database === 'string' ? { connectionString: database } : database;
  return {
    ...where,
    application_name: 'settled',
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    lock_timeout: LOCK_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
  };
}

/** A pool whose idle connections may break without breaking the process. */
export function createPool(connection: pg.ClientConfig, size: number): pg.Pool {
  const pool = new pg.Pool({ ...connection, max: size, idleTimeoutMillis: IDLE_CONNECTION_MS });
  pool.on('error', () => {
    // The broken connection has left the pool already; the next query opens another.
  });
  return pool;
}

/** Runs `work` in one transaction: committed when it resolves, rolled back when it rejects. */
export async function inTransaction<Result>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  let broken: Error | undefined;
  // A connection that is cut says so to whoever listens, and ends the process when nobody does.
  const onError = (error: Error) => {
    broken = error;
  };
  client.on('error', onError);
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch(onError);
    throw error;
  } finally {
    client.off('error', onError);
    client.release(broken);
  }
}

/** SQLSTATE classes and codes of a server that is away, starting, going down, full or too slow. */
const UNAVAILABLE_SQLSTATE = /^(08...|40001|40P01|53...|57P0.|57014|55P03|25006)$/;
const UNAVAILABLE_NETWORK =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOENT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/;
const UNAVAILABLE_MESSAGE =
  /Connection terminated|Query read timeout|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed|Cannot use a pool after calling end|timeout expired/;

/** Whether an error says that the database cannot be reached now, so that trying again later is right. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isDatabaseUnavailable);
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return (
    UNAVAILABLE_SQLSTATE.test(code) ||
    UNAVAILABLE_NETWORK.test(code) ||
    UNAVAILABLE_MESSAGE.test(error.message)
  );
}
