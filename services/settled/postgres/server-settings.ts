/** The superuser that initdb creates; the socket's directory decides who may use it. */
export const DATABASE_USER = 'settled';
/** The one that every cluster has from the start. */
export const DATABASE_NAME = 'postgres';
/** Only names the socket file: the server opens no network port. */
export const SOCKET_PORT = 5432;
/** A parameter of our own: puts the identity of the data directory on the server's command line. */
export const DIRECTORY_SETTING = 'settled.directory';

/** Given on the command line, where they win over postgresql.conf and follow this version instead of the directory. */
const SETTINGS: Readonly<Record<string, string>> = {
  // Local only: no port can be taken, and nobody on the network can reach it.
  listen_addresses: '',
  port: String(SOCKET_PORT),
  // Names the processes in `ps`.
  cluster_name: 'settled',

  // An answer that was confirmed survives a power failure. Defaults, repeated so that no file turns them off.
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',

  // A small machine shared with Node: enough for the hot pages, little enough to go unnoticed.
  shared_buffers: '128MB',
  max_connections: '100',
  // The queries are short: parallel plans and compiled expressions cost more than they give, and parallel plans
  // need more /dev/shm than containers have.
  max_parallel_workers_per_gather: '0',
  jit: 'off',

  // Full pages after a checkpoint are most of the log; compressing them is cheaper than writing them.
  wal_compression: 'on',
  // Fewer checkpoints, fewer full pages; the size bounds the recovery after a crash to seconds.
  checkpoint_timeout: '15min',
  max_wal_size: '1GB',
  // Under load segments are recycled instead of created and zeroed.
  min_wal_size: '256MB',
  // Append-heavy tables: without it plans and visibility go stale. A default, repeated like those above.
  autovacuum: 'on',

  // Text forms of instants are the same on every machine.
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Process and SQLSTATE: a failed start is explained from the log, in any language.
  log_line_prefix: '%m [%p] %e ',
  log_min_messages: 'warning',
  // Questions and answers are personal: no statement is logged, not even one that fails.
  log_statement: 'none',
  log_min_error_statement: 'panic',
  log_checkpoints: 'off',
};

export function settingArguments(...layers: Readonly<Record<string, string>>[]): string[] {
  const merged: Record<string, string> = Object.assign({}, SETTINGS, ...layers);
  return Object.entries(merged).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}
