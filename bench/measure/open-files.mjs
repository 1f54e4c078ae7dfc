import { readProc } from './process-tree.mjs';

/** How many files a process may have open; Node raises its own limit to the hard one when it starts. */
export function openFilesLimit(pid) {
  const limit = readProc(pid, 'limits')?.match(/^Max open files\s+(\S+)/m)?.[1];
  return limit === 'unlimited' ? Number.POSITIVE_INFINITY : Number(limit);
}
