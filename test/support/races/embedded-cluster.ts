import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import { connectionSettings } from '../../../libs/platform/database.js';
import { eventually } from '../eventually.js';
import type { SettledProcess } from '../settled-process.js';

/** How the PostgreSQL in a data directory of Settled is reached. */
export function embeddedConnection(dataDir: string): pg.ClientConfig {
  const [, , , port, host] = postmasterFile(dataDir);
  return connectionSettings({ host: host ?? '', port: Number(port), user: 'settled', database: 'postgres' });
}

/** Kills Settled and every process of its PostgreSQL, as a machine that loses its power does. */
export async function killWithDatabase(settled: SettledProcess, dataDir: string): Promise<void> {
  const postmaster = Number(postmasterFile(dataDir)[0]);
  const doomed = [postmaster, ...childrenOf(postmaster)];
  for (const pid of doomed) kill(pid, 'SIGKILL');
  await settled.kill();
  await eventually(() => !doomed.some(lives));
}

/** Lines: pid, data directory, start, port, socket directory, and more. */
function postmasterFile(dataDir: string): string[] {
  return readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n');
}

function childrenOf(parent: number): number[] {
  const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' });
  const pairs = table
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/ +/).map(Number));
  return pairs.flatMap(([pid, of]) => (of === parent && pid !== undefined ? [pid] : []));
}

function lives(pid: number): boolean {
  const state = execFileSync('ps', ['-A', '-o', 'pid=,stat='], { encoding: 'utf8' });
  return new RegExp(`^ *${pid} +[^Z ]`, 'm').test(state);
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Its parent's end was its own.
  }
}
