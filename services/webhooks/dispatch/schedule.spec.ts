import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readSettings } from '#platform';
import { WEBHOOK_SETTINGS } from '../settings.js';
import { nextDelayMs } from './schedule.js';

const { WEBHOOKS_RETRY_SCHEDULE: schedule } = readSettings(WEBHOOK_SETTINGS, {});

describe('the retry after a failed attempt', () => {
  test('is due as the default schedule says', () => {
    const delays = schedule.map((_, index) => nextDelayMs(schedule, { tries: index + 1 }, 0.5));
    const [second, minute, hour] = [1_000, 60_000, 3_600_000];
    const planned = [5 * second, 5 * minute, 30 * minute, 2, 5, 10, 14, 20, 24];
    expect(delays).toEqual(planned.map((delay, index) => (index < 3 ? delay : delay * hour)));
    expect(nextDelayMs(schedule, { tries: schedule.length + 1 }, 0.5)).toBeUndefined();
  });

  test('is at most a fifth earlier or later than that', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (tries, random) => {
          const planned = schedule[tries - 1] as number;
          const delay = nextDelayMs(schedule, { tries }, random) as number;
          expect(Math.abs(delay - planned)).toBeLessThanOrEqual(planned * 0.2 + 1);
        },
      ),
    );
    expect([0, 1].map((random) => nextDelayMs([10_000], { tries: 1 }, random))).toEqual([8_000, 12_000]);
  });

  test('waits for as long as the receiver asks, but not longer than a day', () => {
    const delayed = (retryAfterMs: number) => nextDelayMs([5_000], { tries: 1, retryAfterMs }, 0.5);
    expect([delayed(0), delayed(4_000), delayed(60_000)]).toEqual([5_000, 5_000, 60_000]);
    expect(delayed(1_000_000_000)).toBe(24 * 3_600_000);
    expect(nextDelayMs([], { tries: 1, retryAfterMs: 1_000 }, 0.5)).toBeUndefined();
  });
});
