import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readlinkSync } from 'node:fs';
import { KEPT_OUTPUT_CHARACTERS, READY_TIMEOUT_MS, STOP_TIMEOUT_MS } from '../limits.mjs';
import { allPids, processTree, startTimeOf } from '../measure/process-tree.mjs';

const running = new Set();

/**
 * Starts a program in a process group of its own and resolves when a line of its standard output
 * matches `ready`. Rejects with the end of its output when it exits before or takes too long.
 */
export async function startProgram({ name, command, args, env, cwd, ready }) {
  const startedAt = performance.now();
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const program = { name, child, pid: child.pid, output: '' };
  running.add(program);
  child.once('exit', () => running.delete(program));
  try {
    program.match = await firstMatch(program, ready);
  } catch (error) {
    killTree(program);
    throw error;
  }
  program.readyAfterMs = performance.now() - startedAt;
  program.stop = () => stop(program);
  return program;
}

function firstMatch(program, ready) {
  return new Promise((resolve, reject) => {
    const fail = (why) => reject(new Error(`${program.name} ${why}\n${program.output}`));
    const timer = setTimeout(() => fail(`was not ready in ${READY_TIMEOUT_MS} ms`), READY_TIMEOUT_MS);
    const settle = (action) => {
      clearTimeout(timer);
      action();
    };
    program.child.once('error', (error) => settle(() => fail(`did not start: ${error.message}`)));
    program.child.once('exit', (code, signal) => settle(() => fail(`ended early (${signal ?? code})`)));
    const listen = (chunk) => {
      program.output = (program.output + chunk).slice(-KEPT_OUTPUT_CHARACTERS);
      const match = program.output.match(ready);
      if (match) settle(() => resolve(match));
    };
    program.child.stdout.setEncoding('utf8').on('data', listen);
    program.child.stderr.setEncoding('utf8').on('data', listen);
  });
}

async function stop(program) {
  if (!running.has(program)) return;
  const family = identities(processTree([program.pid]));
  const exited = once(program.child, 'exit');
  program.child.kill('SIGTERM');
  const timer = setTimeout(() => killTree(program), STOP_TIMEOUT_MS);
  await exited;
  clearTimeout(timer);
  killLeftovers(family);
}

/** A process that a program left behind when it ended has another parent now: it is known by its start time. */
function killLeftovers(family) {
  const now = identities([...family.keys()]);
  for (const [pid, startTime] of family) {
    if (now.get(pid) === startTime) kill(pid);
  }
}

function identities(pids) {
  return new Map(pids.map((pid) => [pid, startTimeOf(pid)]).filter(([, startTime]) => startTime !== null));
}

/** Its group too: when the program itself has gone, what it started is no longer below it. */
function killTree(program) {
  if (program.pid === undefined) return;
  for (const pid of processTree([program.pid])) kill(pid);
  kill(-program.pid);
}

function kill(pid) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

/** PostgreSQL's working directory is its data directory, which tells it even when its parent has gone. */
export function killProcessesIn(directory) {
  for (const pid of allPids()) {
    if (workingDirectory(pid).startsWith(`${directory}/`)) kill(pid);
  }
}

function workingDirectory(pid) {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}

/** For the end of the bench itself: nothing that it started outlives it. Synchronous. */
export function killAllPrograms() {
  for (const program of running) killTree(program);
  running.clear();
}

export async function stopAllPrograms() {
  await Promise.allSettled([...running].map(stop));
}
