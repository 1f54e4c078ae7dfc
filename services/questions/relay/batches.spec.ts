import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { LoggedEvent } from '#eventlog';
import { cutByBytes } from './batches.js';

const MAX_BYTES = 10_000;

const events = fc.array(fc.nat(2 * MAX_BYTES)).map((sizes) => sizes.map(event));

function event(bytes: number, index: number): LoggedEvent {
  return { position: index + 1, envelope: 'x'.repeat(bytes), data: '' } as LoggedEvent;
}

function bytesOf(batch: readonly LoggedEvent[]): number {
  return batch.reduce((sum, { envelope }) => sum + (envelope?.length ?? 0), 0);
}

describe('events that are cut into transactions', () => {
  test('are all there, in order', () => {
    fc.assert(fc.property(events, (all) => expect(cutByBytes(all, MAX_BYTES).flat()).toEqual(all)));
  });

  test('share one only as far as its bytes go', () => {
    fc.assert(
      fc.property(events, (all) => {
        for (const batch of cutByBytes(all, MAX_BYTES)) {
          expect(batch.length === 1 || bytesOf(batch) <= MAX_BYTES).toBe(true);
        }
      }),
    );
  });

  test('are few transactions when they are short', () => {
    const short = Array.from({ length: 100 }, (_, index) => event(100, index));
    expect(cutByBytes(short)).toHaveLength(1);
  });

  test('are counted in bytes, not in characters', () => {
    const long = { ...event(0, 0), envelope: '€'.repeat(MAX_BYTES / 2) };
    expect(cutByBytes([long, long, long], 2 * MAX_BYTES)).toHaveLength(3);
  });

  test('without an envelope at hand count as long as their data', () => {
    const long = { ...event(0, 0), envelope: null, data: 'x'.repeat(MAX_BYTES) };
    expect(cutByBytes([long, long], MAX_BYTES)).toHaveLength(2);
  });
});
