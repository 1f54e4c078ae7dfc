import { processTree, readProc } from './process-tree.mjs';

const BYTES_PER_KIB = 1024;

/** Resident memory of one process, in bytes. */
export function rssBytes(pid) {
  return kib(readProc(pid, 'status'), /^VmRSS:\s+(\d+) kB$/m);
}

/** Proportional memory of a process and everything below it: shared pages count once. In bytes. */
export function treePssBytes(rootPids) {
  let total = 0;
  for (const pid of processTree(rootPids)) {
    total += kib(readProc(pid, 'smaps_rollup'), /^Pss:\s+(\d+) kB$/m);
  }
  return total;
}

function kib(text, pattern) {
  const match = text?.match(pattern);
  return match ? Number(match[1]) * BYTES_PER_KIB : 0;
}
