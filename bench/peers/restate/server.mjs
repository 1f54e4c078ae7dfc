import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';

const START_TIMEOUT_MS = 60_000;
const ESCAPE_CODES = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, 'g');

/**
 * restate-server below `directory`, with its defaults but for the partitions and free ports on the loopback.
 * Resolves with `{ingress, admin, stop}` when partitions lead and both addresses are known.
 */
export async function startRestateServer({ directory, partitions }) {
  const binary = createRequire(import.meta.url).resolve(
    `@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`,
  );
  const args = ['--no-logo', '--bind-ip', '127.0.0.1', '--base-dir', directory];
  if (partitions !== undefined) args.push('--default-num-partitions', String(partitions));
  const server = spawn(binary, args, {
    cwd: directory,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, RESTATE_USE_RANDOM_PORTS: 'true', RESTATE_DISABLE_TELEMETRY: 'true' },
  });
  const ports = await portsOf(server);
  return {
    ingress: `http://127.0.0.1:${ports.ingress}`,
    admin: `http://127.0.0.1:${ports.admin}`,
    stop: () => stop(server),
  };
}

function portsOf(server) {
  return new Promise((resolve, reject) => {
    let log = '';
    const timer = setTimeout(
      () => reject(new Error(`restate-server was not ready\n${log}`)),
      START_TIMEOUT_MS,
    );
    server.once('error', reject);
    server.once('exit', (code) => reject(new Error(`restate-server ended with ${code}\n${log}`)));
    const listen = (chunk) => {
      if (log === null) return;
      log += chunk;
      const plain = log.replace(ESCAPE_CODES, '');
      const ingress = portAfter(plain, 'http-ingress-server');
      const admin = portAfter(plain, 'admin-api-server');
      if (!ingress || !admin || !plain.includes('became Leader')) return;
      log = null;
      clearTimeout(timer);
      resolve({ ingress, admin });
    };
    server.stdout.setEncoding('utf8').on('data', listen);
    server.stderr.setEncoding('utf8').on('data', listen);
  });
}

function portAfter(log, serverName) {
  return log.match(
    new RegExp(`server_name: ${serverName}[^\\n]*\\n(?:[^\\n]*\\n){0,3}?[^\\n]*server\\.port: (\\d+)`),
  )?.[1];
}

async function stop(server) {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const exited = once(server, 'exit');
  server.kill('SIGTERM');
  await exited;
}
