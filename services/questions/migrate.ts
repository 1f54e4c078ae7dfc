// Brings the schema up to date and ends: for a deployment that does so before its services start.
import { migrationsFolder } from '#eventlog';
import { connectionSettings, migrate, newestVersion, readSettings } from '#platform';
import { MIGRATION_SETTINGS } from './settings.js';

try {
  const { DATABASE_URL } = readSettings(MIGRATION_SETTINGS, process.env);
  await migrate(connectionSettings(DATABASE_URL), migrationsFolder);
  console.log(`settled schema is at ${newestVersion(migrationsFolder)}`);
} catch (error) {
  console.error(`settled: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
