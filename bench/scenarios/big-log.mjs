import { setTimeout as sleep } from 'node:timers/promises';
import {
  BIG_LOG_QUESTIONS,
  BIG_LOG_ROUNDS,
  FIRST_WARM_UP_MS,
  MAIN_CONCURRENCY,
  PAUSE_BETWEEN_SLOTS_MS,
} from '../limits.mjs';
import { runCycle } from '../load/cycle.mjs';
import { withUsers } from '../load/users.mjs';
import { growLog } from '../preload/grow-log.mjs';
import { removeDirectory, temporaryDirectory } from '../processes/temporary.mjs';
import { settled } from '../targets/settled.mjs';
import { measureSlot } from './cycles.mjs';

/** Cycles with half a million settled questions in the log next to a log that began empty, in turns. */
export async function bigLog({ slotSeconds, progress }) {
  const why = settled.unavailable();
  if (why !== null) return { missing: [{ name: settled.name, label: settled.label, why }], slots: [] };
  const directory = temporaryDirectory('big');
  const started = [];
  try {
    await prepare(directory, progress);
    started.push({ log: 'big', target: await settled.start(directory) });
    started.push({ log: 'empty', target: await settled.start() });
    return { missing: [], slots: await takeTurns({ started, slotSeconds, progress }) };
  } finally {
    await Promise.all(started.map(({ target }) => target.program.stop()));
    removeDirectory(directory);
  }
}

async function prepare(directory, progress) {
  const target = await settled.start(directory);
  try {
    await withUsers(target, 1, ([user]) => runCycle(user));
  } finally {
    await target.program.stop();
  }
  await growLog({ data: directory, count: BIG_LOG_QUESTIONS, progress });
}

async function takeTurns({ started, slotSeconds, progress }) {
  for (const { target } of started) await measureSlot(target, MAIN_CONCURRENCY, FIRST_WARM_UP_MS);
  const slots = [];
  for (let round = 0; round < BIG_LOG_ROUNDS; round++) {
    for (const { log, target } of started) {
      const slot = await measureSlot(target, MAIN_CONCURRENCY, slotSeconds * 1_000);
      slots.push({ log, round, ...slot });
      progress(`round ${round + 1}/${BIG_LOG_ROUNDS}: ${log} log ${slot.perSecond.toFixed(0)}/s`);
      await sleep(PAUSE_BETWEEN_SLOTS_MS);
    }
  }
  return slots;
}
