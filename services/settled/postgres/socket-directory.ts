import { chown, mkdtemp, rm, rmdir, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { reasonOf } from './reason.js';
import type { ServerAccount } from './server-account.js';
import { SOCKET_PORT } from './server-settings.js';

/** sun_path is 104 bytes on macOS and 108 on Linux, the final zero included. */
const SOCKET_PATH_LIMIT_BYTES = 103;
const NAME = /\/settled-socket-[A-Za-z0-9]{6}$/;

/**
 * A private directory (0700) of the server's account. Not below the data directory, whose path may be too long for a
 * socket or closed to the account. /tmp before TMPDIR for the same two reasons: TMPDIR is often a deep or private folder.
 */
export async function createSocketDirectory(account: ServerAccount | undefined): Promise<string> {
  const refusals: string[] = [];
  for (const parent of ['/tmp', tmpdir()]) {
    try {
      return await createIn(parent, account);
    } catch (error) {
      refusals.push(reasonOf(error));
    }
  }
  throw new Error(`Cannot make a directory for PostgreSQL's socket: ${refusals.join('; ')}`);
}

/**
 * Takes away what a server left. The path may come from a file that the server's account can write, so only a name of
 * our pattern is touched, only the two files we know in it, and the directory only when that emptied it.
 */
export async function removeSocketDirectory(path: string): Promise<void> {
  if (!NAME.test(path)) return;
  const socket = join(path, `.s.PGSQL.${SOCKET_PORT}`);
  for (const file of [socket, `${socket}.lock`]) await unlink(file).catch(() => undefined);
  await rmdir(path).catch(() => undefined);
}

async function createIn(parent: string, account: ServerAccount | undefined): Promise<string> {
  const path = await mkdtemp(join(parent, 'settled-socket-'));
  try {
    if (Buffer.byteLength(join(path, `.s.PGSQL.${SOCKET_PORT}`)) > SOCKET_PATH_LIMIT_BYTES) {
      throw new Error(`${parent} is too long for a socket`);
    }
    if (account !== undefined) await chown(path, account.uid, account.gid);
    return path;
  } catch (error) {
    await rm(path, { recursive: true, force: true });
    throw error;
  }
}
