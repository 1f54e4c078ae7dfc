import { describe, expect, test } from '@jest/globals';
import { validate, version } from 'uuid';
import { newId } from './new-id.js';

describe('a new id', () => {
  test('is a UUIDv7 of now, and greater than all before, also within a millisecond', () => {
    const before = Date.now();
    const ids = Array.from({ length: 20_000 }, newId);
    const after = Date.now();
    expect(ids.every((id) => validate(id) && version(id) === 7)).toBe(true);
    expect(new Set(ids).size).toBe(ids.length);
    expect([...ids].sort()).toEqual(ids);
    const madeAt = ids.map((id) => Number.parseInt(id.replace('-', '').slice(0, 12), 16));
    expect(Math.min(...madeAt)).toBeGreaterThanOrEqual(before);
    expect(Math.max(...madeAt)).toBeLessThanOrEqual(after);
  });

  test('shares its random end with no other', () => {
    const ends = Array.from({ length: 5_000 }, () => newId().slice(24));
    expect(new Set(ends).size).toBe(ends.length);
  });
});
