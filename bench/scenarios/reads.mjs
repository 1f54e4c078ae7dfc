import { setTimeout as sleep } from 'node:timers/promises';
import {
  LIST_LIMIT,
  MAIN_CONCURRENCY,
  PAUSE_BETWEEN_SLOTS_MS,
  READ_PRELOADED_QUESTIONS,
  WARM_UP_MS,
} from '../limits.mjs';
import { closedLoop, forEach } from '../load/closed-loop.mjs';
import { withUsers } from '../load/users.mjs';
import { cpuMs } from '../measure/process-tree.mjs';
import { ceiling } from '../targets/ceiling.mjs';
import { handWritten } from '../targets/hand-written.mjs';
import { settled } from '../targets/settled.mjs';
import { withTargets } from '../targets/started.mjs';

const ACTS = {
  fetch: (ids) => (user) => user.fetch(ids[Math.floor(Math.random() * ids.length)]),
  list: () => (user) => user.list(),
};

/** Fetches of random questions and lists of the newest, half of them answered and half pending. */
export function reads({ rounds, slotSeconds, progress }) {
  return withTargets([settled, handWritten, ceiling], async (started, missing) => {
    const ids = new Map();
    for (const target of started) ids.set(target.name, await preload(target));
    const slots = [];
    for (let round = 0; round < rounds; round++) {
      for (const act of Object.keys(ACTS)) {
        for (const target of started) {
          const slot = await measure(target, ACTS[act](ids.get(target.name)), slotSeconds * 1_000);
          slots.push({ target: target.name, act, round, ...slot });
          progress(`round ${round + 1}/${rounds}: ${target.name} ${slot.perSecond.toFixed(0)} ${act}/s`);
          await sleep(PAUSE_BETWEEN_SLOTS_MS);
        }
      }
    }
    return { missing, slots };
  });
}

function preload(target) {
  return withUsers(target, MAIN_CONCURRENCY, async (users) => {
    const items = Array.from({ length: READ_PRELOADED_QUESTIONS }, (_, index) => index);
    const ids = await forEach({
      users,
      items,
      act: async (user, index) => {
        const id = await user.ask();
        if (index % 2 === 0) user.checkAnswer(await user.answer(id));
        return id;
      },
    });
    await checkList(users[0]);
    return ids;
  });
}

/** Seen once in full, so that the loop only has to count. */
async function checkList(user) {
  const { data } = JSON.parse((await user.list()).body.toString());
  if (data.length !== LIST_LIMIT) throw new Error(`a list has ${data.length} questions, not ${LIST_LIMIT}`);
}

function measure(target, act, durationMs) {
  return withUsers(target, MAIN_CONCURRENCY, async (users) => {
    const { perSecond, results, before, after } = await closedLoop({
      users,
      warmUpMs: WARM_UP_MS,
      durationMs,
      act: async (user) => (await act(user)).body.length,
      snapshot: () => cpuMs([target.program.pid]),
    });
    return {
      perSecond,
      cpuPerRead: (after - before) / results.length,
      bytes: results.reduce((sum, bytes) => sum + bytes, 0) / results.length,
    };
  });
}
