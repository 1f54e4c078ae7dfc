import { setTimeout as pause } from 'node:timers/promises';

const LOOK_AGAIN_MS = 10;
const WITHIN_MS = 20_000;

/** Waits until a condition holds, and fails when it does not within the bound. Returns what the condition returned. */
export async function eventually<T>(condition: () => T | Promise<T>, withinMs = WITHIN_MS): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const result = await condition();
    if (result) return result;
    if (performance.now() > deadline) throw new Error(`Not within ${withinMs} ms: ${condition}`);
    await pause(LOOK_AGAIN_MS);
  }
}
