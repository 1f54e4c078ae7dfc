const SWEEP_INTERVAL_MS = 1_000;

/** Settles what is overdue once a second and wakes those who wait for it. Returns the function that stops it. */
export function startSweep(store, waiters) {
  let underWay = Promise.resolve();
  const timer = setInterval(() => {
    underWay = underWay.then(() => sweep(store, waiters));
  }, SWEEP_INTERVAL_MS);
  return async () => {
    clearInterval(timer);
    await underWay;
  };
}

async function sweep(store, waiters) {
  try {
    for (const question of await store.expireOverdue()) waiters.wake(question);
  } catch (error) {
    console.error('sweep', error.message);
  }
}
