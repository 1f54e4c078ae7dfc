import { describe, expect, test } from '@jest/globals';
import type { LoggedEvent } from './entry.js';
import { RecentEvents } from './recent-events.js';

function events(from: number, to: number, data = '{}'): LoggedEvent[] {
  return Array.from({ length: to - from + 1 }, (_, index) => ({
    position: from + index,
    id: '',
    tenant: 'acme',
    stream: 'question:1',
    version: 1,
    type: 'noted',
    schema: 1,
    at: '',
    actor: '',
    correlation: '',
    data,
    hash: '',
    envelope: null,
    defaultOption: null,
  }));
}

function positions(found: readonly LoggedEvent[] | undefined): number[] | undefined {
  return found?.map(({ position }) => position);
}

describe('the recent events', () => {
  test('are unknown before there are any', () => {
    expect(new RecentEvents().after(0, 10)).toBeUndefined();
  });

  test('start where memory does: what is older is unknown', () => {
    const recent = new RecentEvents();
    recent.add(events(11, 20));
    expect(recent.after(9, 3)).toBeUndefined();
    expect(positions(recent.after(10, 3))).toEqual([11, 12, 13]);
    expect(positions(recent.after(18, 3))).toEqual([19, 20]);
    expect(recent.after(20, 3)).toEqual([]);
    expect(recent.after(25, 3)).toEqual([]);
  });

  test('are kept up to a number', () => {
    const recent = new RecentEvents();
    for (let at = 1; at <= 20_000; at += 100) recent.add(events(at, at + 99));
    expect(recent.after(20_000 - 8_300, 1)).toBeUndefined();
    expect(positions(recent.after(20_000 - 4_000, 1))).toEqual([16_001]);
    expect(positions(recent.after(19_998, 9))).toEqual([19_999, 20_000]);
  });

  test('are kept up to a size, however few that are', () => {
    const recent = new RecentEvents();
    const mebibyte = 'x'.repeat(1024 * 1024);
    for (let at = 1; at <= 40; at += 1) recent.add(events(at, at, mebibyte));
    expect(recent.after(40 - 17, 1)).toBeUndefined();
    expect(positions(recent.after(40 - 4, 9))).toEqual([37, 38, 39, 40]);
  });

  test('let go of an event that is too large by itself', () => {
    const recent = new RecentEvents();
    recent.add(events(1, 1, 'x'.repeat(17 * 1024 * 1024)));
    expect(recent.after(0, 1)).toBeUndefined();
    recent.add(events(2, 3));
    expect(positions(recent.after(1, 9))).toEqual([2, 3]);
  });
});
