import { fileURLToPath } from 'node:url';

/** Where the numbered SQL migrations of the log are. */
export const migrationsFolder = fileURLToPath(new URL('./migrations', import.meta.url));
