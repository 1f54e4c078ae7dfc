import { setTimeout as sleep } from 'node:timers/promises';
import { REST_MS, STARTUPS_PER_TARGET } from '../limits.mjs';
import { rssBytes, treePssBytes } from '../measure/memory.mjs';
import { removeDirectory, temporaryDirectory } from '../processes/temporary.mjs';
import { handWritten } from '../targets/hand-written.mjs';
import { settled } from '../targets/settled.mjs';

/** From the spawn of the process to its ready line, on a new data directory and on the same one again. */
export async function startup({ progress }) {
  const targets = [settled, handWritten];
  const missing = targets.flatMap(({ name, label, unavailable }) => {
    const why = unavailable();
    return why === null ? [] : [{ name, label, why }];
  });
  const starts = [];
  for (let round = 0; round < STARTUPS_PER_TARGET; round++) {
    for (const target of targets.filter(({ unavailable }) => unavailable() === null)) {
      const start = await startTwice(target);
      starts.push({ target: target.name, round, ...start });
      progress(`${target.name}: ${start.firstMs.toFixed(0)} ms first, ${start.laterMs.toFixed(0)} ms later`);
    }
  }
  return { missing, starts };
}

async function startTwice(target) {
  const directory = temporaryDirectory(target.name);
  try {
    const first = await startOnce(target, directory);
    const later = await startOnce(target, directory);
    return { firstMs: first.readyAfterMs, laterMs: later.readyAfterMs, rss: later.rss, pss: later.pss };
  } finally {
    removeDirectory(directory);
  }
}

async function startOnce(target, directory) {
  const { program } = await target.start(directory);
  try {
    await sleep(REST_MS);
    return {
      readyAfterMs: program.readyAfterMs,
      rss: rssBytes(program.pid),
      pss: treePssBytes([program.pid]),
    };
  } finally {
    await program.stop();
  }
}
