import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { killProcessesIn } from './spawned.mjs';

const made = new Set();

/** A new directory below the system's temporary one, that other accounts may pass through. */
export function temporaryDirectory(name) {
  const directory = mkdtempSync(join(tmpdir(), `sb-${name}-`));
  chmodSync(directory, 0o755);
  made.add(directory);
  return directory;
}

export function subdirectory(directory, name) {
  const path = join(directory, name);
  mkdirSync(path, { recursive: true, mode: 0o755 });
  return path;
}

/** With whatever still works in it: a database whose owner crashed, say. */
export function removeDirectory(directory) {
  killProcessesIn(directory);
  rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  made.delete(directory);
}

export function removeAllDirectories() {
  for (const directory of made) removeDirectory(directory);
}
