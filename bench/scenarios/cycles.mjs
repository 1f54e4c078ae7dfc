import { setTimeout as sleep } from 'node:timers/promises';
import {
  CONCURRENCIES,
  FIRST_WARM_UP_MS,
  MAIN_CONCURRENCY,
  PAUSE_BETWEEN_SLOTS_MS,
  REST_MS,
  WARM_UP_MS,
} from '../limits.mjs';
import { closedLoop } from '../load/closed-loop.mjs';
import { runCycle } from '../load/cycle.mjs';
import { withUsers } from '../load/users.mjs';
import { rssBytes, treePssBytes } from '../measure/memory.mjs';
import { cpuMs, ownCpuMs } from '../measure/process-tree.mjs';
import { percentile } from '../measure/statistics.mjs';
import { ceiling } from '../targets/ceiling.mjs';
import { dbos } from '../targets/dbos.mjs';
import { handWritten } from '../targets/hand-written.mjs';
import { restateDefault, restateOne } from '../targets/restate.mjs';
import { settled } from '../targets/settled.mjs';
import { withTargets } from '../targets/started.mjs';

export const CYCLE_TARGETS = [settled, handWritten, restateOne, restateDefault, dbos, ceiling];

/** Full cycles over HTTP at each concurrency, the targets taking turns in each round. */
export function cycles({ rounds, slotSeconds, only, progress }) {
  const targets = CYCLE_TARGETS.filter((target) => only.length === 0 || only.includes(target.name));
  return withTargets(targets, async (started, missing) => {
    const atRest = await restOf(started);
    for (const target of started) await measureSlot(target, MAIN_CONCURRENCY, FIRST_WARM_UP_MS);
    const slots = [];
    for (let round = 0; round < rounds; round++) {
      for (const concurrency of CONCURRENCIES) {
        for (const target of started) {
          const slot = await measureSlot(target, concurrency, slotSeconds * 1_000);
          slots.push({ target: target.name, concurrency, round, ...slot });
          progress(
            `round ${round + 1}/${rounds} at ${concurrency}: ${target.name} ${slot.perSecond.toFixed(0)}/s`,
          );
          await sleep(PAUSE_BETWEEN_SLOTS_MS);
        }
      }
    }
    return { missing, slots, atRest, after: memoryOf(started) };
  });
}

/** One stretch of load on one target. */
export function measureSlot(target, concurrency, durationMs) {
  return withUsers(target, concurrency, async (users) => {
    const { perSecond, results, before, after } = await closedLoop({
      users,
      warmUpMs: WARM_UP_MS,
      durationMs,
      act: runCycle,
      snapshot: () => cpuSnapshot(target.program.pid),
    });
    const perCycle = (figure) => (after[figure] - before[figure]) / results.length;
    return {
      perSecond,
      p50: percentile(results, 0.5),
      p99: percentile(results, 0.99),
      cpuPerCycle: perCycle('server'),
      nodeCpuPerCycle: perCycle('node'),
      clientCpuPerCycle: perCycle('client'),
    };
  });
}

function cpuSnapshot(pid) {
  const { user, system } = process.cpuUsage();
  return { server: cpuMs([pid]), node: ownCpuMs(pid), client: (user + system) / 1_000 };
}

/** What each keeps, and how much CPU it takes while nobody asks anything of it. */
async function restOf(started) {
  const before = started.map(({ program }) => cpuMs([program.pid]));
  await sleep(REST_MS);
  const idle = started.map(
    ({ program }, index) => (cpuMs([program.pid]) - before[index]) / (REST_MS / 1_000),
  );
  const memory = memoryOf(started);
  for (const [index, { name }] of started.entries()) memory[name].idleCpuMsPerSecond = idle[index];
  return memory;
}

function memoryOf(started) {
  return Object.fromEntries(
    started.map(({ name, program }) => [
      name,
      { rss: rssBytes(program.pid), pss: treePssBytes([program.pid]) },
    ]),
  );
}
