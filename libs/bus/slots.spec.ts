import { describe, expect, test } from '@jest/globals';
import { Slots } from './slots.js';

describe('slots', () => {
  test('are given out up to their number, then in the order of the line', async () => {
    const slots = new Slots(2);
    expect([slots.take(), slots.take()]).toEqual([undefined, undefined]);
    const order: number[] = [];
    const waiting = [1, 2].map((n) => slots.take()?.then(() => order.push(n)));
    expect(order).toEqual([]);
    slots.give();
    await waiting[0];
    slots.give();
    await waiting[1];
    expect(order).toEqual([1, 2]);
    slots.give();
    slots.give();
    expect(slots.take()).toBeUndefined();
  });
});
