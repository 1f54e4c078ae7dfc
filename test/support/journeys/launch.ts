import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../../dist/services/settled/main.js', import.meta.url));
const ADMIN_KEY = 'k'.repeat(32);
const WITHIN_MS = 30_000;

export interface Ending {
  readonly code: number | null;
  readonly lines: readonly string[];
}

/** Runs the server with settings under which it must not start, and tells how it ended and what it printed. */
export function launchInVain(environment: Record<string, string>): Promise<Ending> {
  const child = spawn(process.execPath, [MAIN], {
    env: { PATH: process.env.PATH ?? '', PORT: '0', SETTLED_ADMIN_KEY: ADMIN_KEY, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: WITHIN_MS,
  });
  let printed = '';
  for (const output of [child.stdout, child.stderr])
    output.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      // It serves, although it should not: no need to wait for the bound.
      if (printed.includes('settled ready')) child.kill('SIGKILL');
    });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, lines: printed.split('\n').filter((line) => line !== '') }));
  });
}
