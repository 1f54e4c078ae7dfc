import type { DataDirectory } from './data-directory.js';
import { isServerOf, waitUntilGone } from './server-process.js';

/** Connections are cut and a checkpoint is written. */
const FAST_SHUTDOWN_TIMEOUT_MS = 10_000;
/** PostgreSQL itself kills processes that ignore an immediate shutdown after 5 s. */
const IMMEDIATE_SHUTDOWN_TIMEOUT_MS = 10_000;

/** Fast shutdown, then, if that takes too long, an immediate one: the next start recovers. */
export async function stopServer(
  pid: number,
  directory: DataDirectory,
  fastShutdownTimeoutMs = FAST_SHUTDOWN_TIMEOUT_MS,
): Promise<void> {
  if (await endsAfter('SIGINT', pid, directory, fastShutdownTimeoutMs)) return;
  if (await endsAfter('SIGQUIT', pid, directory, IMMEDIATE_SHUTDOWN_TIMEOUT_MS)) return;
  throw new Error(`PostgreSQL process ${pid} on ${directory.path} does not stop`);
}

async function endsAfter(
  signal: NodeJS.Signals,
  pid: number,
  directory: DataDirectory,
  limitMs: number,
): Promise<boolean> {
  // Asked again right before the signal: the number may be somebody else's by now.
  if (!(await isServerOf(pid, directory))) return true;
  try {
    process.kill(pid, signal);
  } catch {
    // Gone in this moment; the wait below tells.
  }
  return waitUntilGone(pid, directory, limitMs);
}
