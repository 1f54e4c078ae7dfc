import { readFile, symlink } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';

/**
 * npm packs no symbolic links, so the package lists those of its shared libraries and makes them in an install
 * script. Where scripts are switched off (`--ignore-scripts`) we make them; where we may not write, the caller's
 * trial run tells.
 */
export async function completeLibraryLinks(root: string): Promise<void> {
  for (const { source, target } of await listedLinks(root)) {
    try {
      await symlink(basename(source), join(root, relative('native', target)));
    } catch {
      // There already, or not ours to write.
    }
  }
}

async function listedLinks(root: string): Promise<{ source: string; target: string }[]> {
  try {
    return JSON.parse(await readFile(join(root, 'pg-symlinks.json'), 'utf8'));
  } catch {
    return [];
  }
}
