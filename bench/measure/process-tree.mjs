import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const TICKS_PER_SECOND = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** The pids of the given processes and of everything below them that is alive or a zombie. */
export function processTree(rootPids) {
  const children = new Map();
  for (const pid of allPids()) {
    const stat = readStat(pid);
    if (!stat) continue;
    const siblings = children.get(stat.parent) ?? [];
    siblings.push(pid);
    children.set(stat.parent, siblings);
  }
  const found = [];
  const queue = [...rootPids];
  while (queue.length > 0) {
    const pid = queue.pop();
    found.push(pid);
    queue.push(...(children.get(pid) ?? []));
  }
  return found;
}

export function allPids() {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/**
 * CPU time of the trees, in milliseconds, user and system. A process that ended counts through the
 * `cutime` of the parent that reaped it, so short-lived backends are not lost.
 */
export function cpuMs(rootPids) {
  let ticks = 0;
  for (const pid of processTree(rootPids)) {
    ticks += readStat(pid)?.ticks ?? 0;
  }
  return (ticks * 1000) / TICKS_PER_SECOND;
}

/** CPU time of one process alone, in milliseconds. */
export function ownCpuMs(pid) {
  return ((readStat(pid)?.ownTicks ?? 0) * 1000) / TICKS_PER_SECOND;
}

function readStat(pid) {
  const text = readProc(pid, 'stat');
  if (text === null) return null;
  // The command may hold spaces and parentheses, so fields are counted from the last one.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [utime, stime, cutime, cstime] = fields.slice(11, 15).map(Number);
  const ownTicks = utime + stime;
  return { parent: Number(fields[1]), ownTicks, ticks: ownTicks + cutime + cstime, startTime: fields[19] };
}

/** Tells a process from a later one of the same pid; null when it has gone. */
export function startTimeOf(pid) {
  return readStat(pid)?.startTime ?? null;
}

/** The text of a file of a process, or null when the process has gone. */
export function readProc(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ESRCH') return null;
    throw error;
  }
}
