import { constants } from 'node:fs';
import { type FileHandle, open, rename, stat } from 'node:fs/promises';
import type { ServerAccount } from './server-account.js';

/** The server appends for as long as it lives; the file is put aside between lives once it is larger than this. */
const ROTATE_AT_BYTES = 10 * 1024 * 1024;
const REPORT_LIMIT_BYTES = 64 * 1024;

export interface ServerLog {
  readonly handle: FileHandle;
  /** Length of the file when it was opened: what comes after was written since. */
  readonly start: number;
}

export async function openServerLog(path: string, account: ServerAccount | undefined): Promise<ServerLog> {
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  );
  if (size > ROTATE_AT_BYTES) await rename(path, `${path}.1`);
  // As root not through a symbolic link: we would append to, and give away, whatever it points at.
  const noLinks = account === undefined ? 0 : constants.O_NOFOLLOW;
  const handle = await open(
    path,
    constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | noLinks,
    0o600,
  );
  if (account !== undefined) await handle.chown(account.uid, account.gid);
  return { handle, start: (await handle.stat()).size };
}

/** The line that says best why a program ended: its own fatal error, else any, else the last words. */
export async function reasonInLog(path: string, start: number, pid: number): Promise<string> {
  const lines = (await readFrom(path, start)).split('\n').filter((line) => line.trim() !== '');
  const fatal = lines.filter((line) => /FATAL|PANIC|error:/.test(line));
  return (
    fatal.findLast((line) => line.includes(`[${pid}]`)) ?? fatal.at(-1) ?? lines.at(-1) ?? 'it said nothing'
  );
}

async function readFrom(path: string, start: number): Promise<string> {
  const handle = await open(path, 'r');
  try {
    const { size } = await handle.stat();
    const from = Math.max(start, size - REPORT_LIMIT_BYTES);
    const length = Math.max(0, size - from);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, from);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
}
