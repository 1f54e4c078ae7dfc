/**
 * What PostgreSQL's programs see of our environment: nothing that would steer them (PGDATA, PGOPTIONS, LC_ALL, ...).
 * The messages stay English because we read them. A given time zone spares initdb a search through all of them.
 */
export function serverEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
}
