import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import {
  chmod,
  copyFile,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readlink,
  rename,
  rm,
  stat,
  symlink,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { completeLibraryLinks } from './library-links.js';
import { reasonOf } from './reason.js';

export interface MirrorOptions {
  readonly root: string;
  readonly version: string;
  /** Tried in order; the first that can be written and is ours alone takes the mirror. */
  readonly places: readonly string[];
}

const SYNC_TIMEOUT_MS = 60_000;

/**
 * Copies the binaries once to where every account can read them, and returns that folder.
 *
 * Copies, not hard links: a link would stay writable for whoever owns the installed package, and root starts what is
 * here. The copy is renamed into place when complete, so of two starts at once one simply uses the other's.
 */
export async function mirrorBinaries({ root, version, places }: MirrorOptions): Promise<string> {
  const refusals: string[] = [];
  for (const place of places) {
    try {
      return await mirrorInto(place, root, version);
    } catch (error) {
      refusals.push(reasonOf(error));
    }
  }
  throw new Error(
    `The server's account cannot enter ${root}, and it cannot be copied: ${refusals.join('; ')}`,
  );
}

async function mirrorInto(place: string, root: string, version: string): Promise<string> {
  const target = join(place, `postgres-${version}`);
  await mkdir(dirname(place), { recursive: true });
  await mkdir(place, { mode: 0o755 }).catch(ignoreExisting);
  await requireOursAlone(place);
  if (!(await exists(target))) await copyAside(root, target);
  await requireOursAlone(target);
  return target;
}

async function copyAside(root: string, target: string): Promise<void> {
  const unfinished = await mkdtemp(`${target}.new-`);
  try {
    await copyFolder(root, unfinished);
    await completeLibraryLinks(unfinished);
    // A power failure must not leave a mirror that looks complete and is empty.
    await promisify(execFile)('sync', { timeout: SYNC_TIMEOUT_MS });
    await rename(unfinished, target);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    if (!(await exists(target))) throw error;
  }
}

async function copyFolder(from: string, to: string): Promise<void> {
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, copy] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) {
      await mkdir(copy);
      await copyFolder(source, copy);
    } else if (entry.isSymbolicLink()) {
      await symlink(await readlink(source), copy);
    } else if (!entry.name.endsWith('.a')) {
      await copyReadable(source, copy);
    }
  }
  // Explicitly, because neither the umask here nor the one at the installation says who may read.
  await chmod(to, 0o755);
}

async function copyReadable(source: string, copy: string): Promise<void> {
  const { mode } = await stat(source);
  await copyFile(source, copy, constants.COPYFILE_FICLONE);
  await chmod(copy, (mode & 0o100) === 0 ? 0o644 : 0o755);
}

/** In a shared folder like /tmp somebody may have been there first, with binaries of their own. */
async function requireOursAlone(path: string): Promise<void> {
  const { uid, mode, isDirectory } = await inspect(path);
  if (!isDirectory || uid !== process.getuid?.() || (mode & 0o022) !== 0) {
    throw new Error(`${path} exists, but others could write to it`);
  }
}

async function inspect(path: string): Promise<{ uid: number; mode: number; isDirectory: boolean }> {
  const found = await lstat(path);
  return { uid: found.uid, mode: found.mode, isDirectory: found.isDirectory() };
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}
