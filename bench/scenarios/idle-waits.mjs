import { setTimeout as sleep } from 'node:timers/promises';
import {
  IDLE_SETTLE_MS,
  IDLE_WAITS,
  IDLE_WAITS_ANSWERED,
  MAIN_CONCURRENCY,
  SPARE_OPEN_FILES,
  WARM_UP_CYCLES,
} from '../limits.mjs';
import { forEach } from '../load/closed-loop.mjs';
import { runCycle } from '../load/cycle.mjs';
import { cutConnection, parkWaits } from '../load/parked-waits.mjs';
import { withUsers } from '../load/users.mjs';
import { rssBytes, treePssBytes } from '../measure/memory.mjs';
import { openFilesLimit } from '../measure/open-files.mjs';
import { percentile } from '../measure/statistics.mjs';
import { handWritten } from '../targets/hand-written.mjs';
import { settled } from '../targets/settled.mjs';
import { withTargets } from '../targets/started.mjs';

/** Ten thousand waits that nobody answers, what they cost, and a thousand answers among them. */
export async function idleWaits({ progress }) {
  const results = [];
  const missing = [];
  for (const target of [settled, handWritten]) {
    await withTargets([target], async ([started], unavailable) => {
      missing.push(...unavailable);
      if (started) results.push({ target: target.name, ...(await measure(started, progress)) });
    });
  }
  return { missing, results };
}

async function measure(target, progress) {
  const { pid } = target.program;
  const count = affordable(pid);
  return withUsers(target, MAIN_CONCURRENCY, async (users) => {
    await forEach({ users, items: Array.from({ length: WARM_UP_CYCLES }), act: runCycle });
    const ids = await forEach({ users, items: Array.from({ length: count }), act: (user) => user.ask() });
    await sleep(IDLE_SETTLE_MS);
    const before = { rss: rssBytes(pid), pss: treePssBytes([pid]) };
    const waits = await parkWaits({ target, ids });
    await sleep(IDLE_SETTLE_MS);
    const after = { rss: rssBytes(pid), pss: treePssBytes([pid]) };
    progress(
      `${target.name}: ${count} waits parked, ${Math.round((after.rss - before.rss) / count)} bytes each`,
    );
    const latencies = await answerSome({ users, waits });
    await Promise.all(waits.map(cutConnection));
    return {
      waits: count,
      bytesPerWait: (after.rss - before.rss) / count,
      pssBytesPerWait: (after.pss - before.pss) / count,
      pssBefore: before.pss,
      pssAfter: after.pss,
      rssAfter: after.rss,
      p50: percentile(latencies, 0.5),
      p99: percentile(latencies, 0.99),
    };
  });
}

function affordable(serverPid) {
  const limit = Math.min(openFilesLimit(process.pid), openFilesLimit(serverPid)) - SPARE_OPEN_FILES;
  if (limit < IDLE_WAITS)
    console.error(`only ${limit} waits: raise the open files limit (ulimit -n) for ${IDLE_WAITS}`);
  return Math.min(IDLE_WAITS, limit);
}

function answerSome({ users, waits }) {
  const stride = Math.max(1, Math.floor(waits.length / IDLE_WAITS_ANSWERED));
  const items = waits.filter((_, index) => index % stride === 0).slice(0, IDLE_WAITS_ANSWERED);
  return forEach({
    users,
    items,
    act: async (user, wait) => {
      const answeredAt = performance.now();
      const [waited, answered] = await Promise.all([wait.response, user.answer(wait.id)]);
      user.checkAnswer(answered);
      user.checkWait(waited);
      return waited.receivedAt - answeredAt;
    },
  });
}
