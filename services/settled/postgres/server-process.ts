import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type DataDirectory, directoryIdentity } from './data-directory.js';
import { DIRECTORY_SETTING } from './server-settings.js';

const POLL_MS = 10;
const PS_TIMEOUT_MS = 5_000;

/** Whether the process lives and is a server of this directory, and not a stranger who was given its number. */
export async function isServerOf(pid: number, directory: DataDirectory): Promise<boolean> {
  if (process.platform === 'linux') {
    // A server works in its data directory. A process that is gone, or a zombie, has none.
    const workingDirectory = await directoryIdentity(`/proc/${pid}/cwd`).catch(
      (error) => error.code as string,
    );
    if (workingDirectory !== 'EACCES') return workingDirectory === directory.identity;
  }
  // Root in a container often may not look into other users' processes; command lines are open to all.
  const words = (await commandLine(pid).catch(() => '')).split(/[\0 \n]/);
  return words.includes(`${DIRECTORY_SETTING}=${directory.identity}`);
}

/** False if it still runs when the time is over. */
export async function waitUntilGone(
  pid: number,
  directory: DataDirectory,
  limitMs: number,
): Promise<boolean> {
  const deadline = performance.now() + limitMs;
  while (await isServerOf(pid, directory)) {
    if (performance.now() > deadline) return false;
    await delay(POLL_MS);
  }
  return true;
}

async function commandLine(pid: number): Promise<string> {
  if (process.platform === 'linux') return readFile(`/proc/${pid}/cmdline`, 'utf8');
  const { stdout } = await promisify(execFile)('ps', ['-ww', '-o', 'command=', '-p', String(pid)], {
    timeout: PS_TIMEOUT_MS,
  });
  return stdout;
}
