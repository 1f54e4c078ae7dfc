import { setTimeout as sleep } from 'node:timers/promises';

const CYCLES_PER_USER = 2;
const LONGEST_STRETCH = 3;

/**
 * Lets every user repeat `act` without a pause, each beginning the next when the last has ended. After the warm-up, what
 * ends within the window is counted; users are in the midst of things at both of its edges, as they are in between.
 * A window in which hardly anything ended says little, so a slow target's is stretched, to three times the duration at
 * most. `snapshot` is called at both edges. The first failure ends the loop and is thrown.
 */
export async function closedLoop({ users, warmUpMs, durationMs, act, snapshot }) {
  const window = { open: false, over: false, results: [] };
  const loops = users.map((user) => repeat(user, act, window));
  const failed = Promise.race(loops);
  try {
    await Promise.race([failed, sleep(warmUpMs)]);
    const before = snapshot();
    const openedAt = performance.now();
    window.open = true;
    for (let stretch = 0; stretch < LONGEST_STRETCH; stretch++) {
      await Promise.race([failed, sleep(durationMs)]);
      if (window.results.length >= users.length * CYCLES_PER_USER) break;
    }
    window.open = false;
    const elapsedMs = performance.now() - openedAt;
    const after = snapshot();
    const { results } = window;
    return { perSecond: (results.length * 1_000) / elapsedMs, results, before, after };
  } finally {
    window.over = true;
    await Promise.all(loops);
  }
}

async function repeat(user, act, window) {
  while (!window.over) {
    const result = await act(user);
    if (window.open) window.results.push(result);
  }
}

/** Acts once for each item, with at most one at a time per user. Resolves with the results in the items' order. */
export async function forEach({ users, items, act }) {
  const results = new Array(items.length);
  let next = 0;
  const work = async (user) => {
    while (next < items.length) {
      const index = next++;
      results[index] = await act(user, items[index]);
    }
  };
  await Promise.all(users.map(work));
  return results;
}
