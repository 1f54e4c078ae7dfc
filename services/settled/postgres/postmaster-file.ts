import { link, readFile, rename, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { type DataDirectory } from './data-directory.js';
import { isServerOf } from './server-process.js';
import { removeSocketDirectory } from './socket-directory.js';

/** What a server writes about itself into `postmaster.pid`, a line at a time while it starts. */
export interface PostmasterFile {
  readonly pid: number;
  readonly socketDirectory: string;
  readonly port: number;
  readonly isReady: boolean;
}

/** A server creates the file and then fills it; one that stays empty was left by a crash in between. */
const EMPTY_FILE_GRACE_MS = 2_000;

/** The server that runs on the directory, whoever started it. */
export async function findServer(directory: DataDirectory): Promise<PostmasterFile | undefined> {
  const file = parse(await textOf(pathIn(directory)));
  return file !== undefined && (await isServerOf(file.pid, directory)) ? file : undefined;
}

/**
 * Removes a file whose server is gone. PostgreSQL itself believes in any live process with that number, and after a
 * restart of the machine there often is one.
 */
export async function discardStaleFile(directory: DataDirectory): Promise<PostmasterFile | undefined> {
  const path = pathIn(directory);
  const text = await textOf(path);
  if (text === undefined || (await mayBeInUse(directory, path, text))) return undefined;

  // Another start may have replaced the file since it was read, so it is moved aside, read again, and put back if so.
  const aside = `${path}.${process.pid}`;
  await rename(path, aside).catch(() => undefined);
  if ((await textOf(aside)) !== text) await link(aside, path).catch(() => undefined);
  await unlink(aside).catch(() => undefined);

  const file = parse(text);
  if (file !== undefined) await removeSocketDirectory(file.socketDirectory);
  return file;
}

async function mayBeInUse(directory: DataDirectory, path: string, text: string): Promise<boolean> {
  const file = parse(text);
  if (file !== undefined) return isServerOf(file.pid, directory);
  const written = await stat(path).catch(() => undefined);
  return written !== undefined && Date.now() - written.mtimeMs < EMPTY_FILE_GRACE_MS;
}

function pathIn(directory: DataDirectory): string {
  return join(directory.path, 'postmaster.pid');
}

function textOf(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined);
}

/** Lines: pid, data directory, start, port, socket directory, listen address, shared memory, status. */
function parse(text: string | undefined): PostmasterFile | undefined {
  const lines = text?.split('\n') ?? [];
  // A single-user server writes its number negated.
  const pid = Math.abs(Number.parseInt(lines[0] ?? '', 10));
  if (!(pid > 0)) return undefined;
  return {
    pid,
    port: Number.parseInt(lines[3] ?? '', 10),
    socketDirectory: lines[4] ?? '',
    isReady: lines[7]?.trim() === 'ready',
  };
}
