import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Progress } from './progress.js';

describe('progress', () => {
  test('is never beyond an event that is held, and is the end once none is', () => {
    const events = fc.array(fc.record({ handled: fc.boolean(), rank: fc.nat() }), { maxLength: 60 });
    fc.assert(
      fc.property(events, (plan) => {
        const progress = new Progress(7);
        const held = plan.flatMap(({ handled, rank }, index) => {
          const position = 8 + index;
          if (handled) return [{ position, rank, entry: progress.begin(position, 0) }];
          progress.skip(position);
          return [];
        });
        const open = new Set(held.map(({ position }) => position));
        for (const { position, entry } of held.toSorted((a, b) => a.rank - b.rank)) {
          expect(progress.upTo).toBe(Math.min(...open) - 1);
          expect(progress.held).toBeGreaterThanOrEqual(open.size);
          progress.finish(entry);
          open.delete(position);
        }
        expect([progress.upTo, progress.held]).toEqual([7 + plan.length, 0]);
      }),
    );
  });

  test('forgets what is done', () => {
    const progress = new Progress(0);
    for (let position = 1; position <= 10_000; position += 1) progress.finish(progress.begin(position, 0));
    expect([progress.upTo, progress.held, progress.oldest]).toEqual([10_000, 0, undefined]);
  });
});
