import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { ServerAccount } from './server-account.js';

/** How a child process is to be given a directory. */
export interface DirectoryAccess {
  /** The path to name on its command line. */
  readonly argument: string;
  /** Descriptors to pass on after the first three. */
  readonly inherited: readonly number[];
}

/** Refuses a symbolic link in the last place: as root we are about to give the directory away. */
export function openDirectory(path: string): Promise<FileHandle> {
  return open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
}

/**
 * A lent account may not be allowed to enter the folders above (root's home, mode 0700). A descriptor that root
 * opened asks for no permission on the way, and /proc/self/fd names it where a path is wanted. Every process of the
 * server inherits it, so the name holds in all of them.
 */
export function directoryAccess(
  path: string,
  handle: FileHandle,
  account: ServerAccount | undefined,
): DirectoryAccess {
  if (account === undefined || process.platform !== 'linux') return { argument: path, inherited: [] };
  return { argument: '/proc/self/fd/3', inherited: [handle.fd] };
}
