import { describe, expect, test } from '@jest/globals';
import { eventually } from '../../test/support/eventually.js';
import { Gate } from '../../test/support/gate.js';
import { Checkpoint } from './checkpoint.js';
import { CHECKPOINT_MS } from './contract.js';

describe('a checkpoint', () => {
  test('saves the newest progress, not each step of it', async () => {
    const saved: number[] = [];
    const progress = { upTo: 0 };
    const checkpoint = new Checkpoint(progress, async (position) => void saved.push(position));
    const began = performance.now();
    while (performance.now() - began < 3 * CHECKPOINT_MS) {
      progress.upTo += 1;
      checkpoint.advanced();
      await new Promise(setImmediate);
    }
    await checkpoint.close();
    expect(saved.length).toBeLessThanOrEqual(4);
    expect(saved.at(-1)).toBe(progress.upTo);
    expect(saved).toEqual(saved.toSorted((a, b) => a - b));
  });

  test('that could not be saved is tried again, and its failure shows until then', async () => {
    const progress = { upTo: 0 };
    let away = true;
    const saved: number[] = [];
    const checkpoint = new Checkpoint(progress, async (position) => {
      if (away) throw new Error('away');
      saved.push(position);
    });
    progress.upTo = 5;
    checkpoint.advanced();
    await eventually(() => checkpoint.failure !== undefined);
    away = false;
    await eventually(() => checkpoint.failure === undefined);
    expect(saved).toEqual([5]);
  });

  test('is saved one at a time, also at the end, and not again when nothing has changed', async () => {
    const progress = { upTo: 0 };
    const gate = new Gate();
    const log: string[] = [];
    const checkpoint = new Checkpoint(progress, async (position) => {
      log.push(`begin ${position}`);
      await gate.pass();
      log.push(`end ${position}`);
    });
    progress.upTo = 1;
    checkpoint.advanced();
    await gate.reached;
    progress.upTo = 2;
    const closed = checkpoint.close();
    gate.open();
    await closed;
    checkpoint.advanced();
    await checkpoint.close();
    expect(log).toEqual(['begin 1', 'end 1', 'begin 2', 'end 2']);
  });
});
