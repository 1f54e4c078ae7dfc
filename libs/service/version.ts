import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The version of the package that this file is built into. */
export const VERSION = versionOf(dirname(fileURLToPath(import.meta.url)));

function versionOf(folder: string): string {
  try {
    return (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }).version;
  } catch (error) {
    if (dirname(folder) === folder) throw error;
    return versionOf(dirname(folder));
  }
}
