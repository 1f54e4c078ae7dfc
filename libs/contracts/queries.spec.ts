import { describe, expect, it } from '@jest/globals';
import {
  EventsQuerySchema,
  FetchQuerySchema,
  ListQuerySchema,
  PositionInQuerySchema,
  WaitAnyQuerySchema,
  WaitQuerySchema,
} from '#contracts';
import { faults, filler } from '../../test/support/schema-faults.js';

const ID = '01939a4e-0000-7000-8000-000000000001';

function ids(count: number): readonly string[] {
  return Array.from(
    { length: count },
    (_, index) => `01939a4e-0000-7000-8000-${String(index).padStart(12, '0')}`,
  );
}

describe('a list', () => {
  it('has 50 questions of all kinds unless told otherwise', () => {
    expect(ListQuerySchema.parse({})).toStrictEqual({ limit: 50 });
  });

  it('takes every filter at once', () => {
    const query = {
      state: 'expired',
      scope: 'room',
      room: 'ops',
      user: 'user:ada',
      asker: 'agent:deployer',
      conversation: 'c 1',
      cursor: 'abc',
    };

    expect(ListQuerySchema.parse({ ...query, limit: '200' })).toStrictEqual({ ...query, limit: 200 });
  });

  it.each([
    ['limit', { limit: '0' }],
    ['limit', { limit: '201' }],
    ['limit', { limit: '-1' }],
    ['limit', { limit: '1.5' }],
    ['limit', { limit: '1e2' }],
    ['limit', { limit: '' }],
    ['limit', { limit: ' 5' }],
    ['limit', { limit: ['5', '6'] }],
    ['state', { state: 'open' }],
    ['state', { state: ['pending', 'expired'] }],
    ['scope', { scope: 'everybody' }],
    ['room', { room: '' }],
    ['asker', { asker: 'agent deployer' }],
    ['cursor', { cursor: filler(501) }],
    ['', { stat: 'pending' }],
  ])('refuses at "%s": %j', (path, query) => {
    expect(faults(ListQuerySchema, query)).toStrictEqual([path]);
  });
});

describe('a fetch', () => {
  it('takes a version or a time, which it turns to UTC', () => {
    expect(FetchQuerySchema.parse({ version: '2' })).toStrictEqual({ version: 2 });
    expect(FetchQuerySchema.parse({ at: '2026-11-30T18:28:00+01:00' })).toStrictEqual({
      at: '2026-11-30T17:28:00.000Z',
    });
  });

  it.each([
    ['at', { version: '1', at: '2026-11-30T17:28:00Z' }],
    ['version', { version: '0' }],
    ['version', { version: '2147483648' }],
    ['at', { at: 'yesterday' }],
  ])('refuses at "%s": %j', (path, query) => {
    expect(faults(FetchQuerySchema, query)).toStrictEqual([path]);
  });
});

describe('a wait', () => {
  it.each([
    [{}, 30],
    [{ timeout: '0' }, 0],
    [{ timeout: '60' }, 60],
    [{ timeout: '0.25' }, 0.25],
  ])('of %j takes %d s', (query, timeout) => {
    expect(WaitQuerySchema.parse(query)).toStrictEqual({ timeout });
  });

  it.each(['61', '60.001', '-1', '', 'ten', '1e1', 'Infinity'])('does not take "%s" seconds', (timeout) => {
    expect(faults(WaitQuerySchema, { timeout })).toStrictEqual(['timeout']);
  });
});

describe('a wait for any of several', () => {
  it('takes 100 ids, each counted once', () => {
    const hundred = ids(100);

    expect(WaitAnyQuerySchema.parse({ ids: [...hundred, ...hundred].join(',') })).toStrictEqual({
      ids: hundred,
      timeout: 30,
    });
  });

  it.each([
    ['no ids', {}],
    ['an empty list', { ids: '' }],
    ['an id that is none', { ids: `${ID},abc` }],
    ['a trailing comma', { ids: `${ID},` }],
    ['101 ids', { ids: ids(101).join(',') }],
  ])('refuses %s', (_what, query) => {
    expect(faults(WaitAnyQuerySchema, query)).not.toStrictEqual([]);
  });
});

describe('a position of the log', () => {
  it('is any whole number that a double holds', () => {
    expect(PositionInQuerySchema.parse('9007199254740991')).toBe(Number.MAX_SAFE_INTEGER);
    expect(EventsQuerySchema.parse({})).toStrictEqual({ after: 0 });
    expect(EventsQuerySchema.parse({ after: '7', limit: '1000' })).toStrictEqual({ after: 7, limit: 1_000 });
  });

  it.each(['9007199254740992', '99999999999999999', '-1', '1.0', ''])('is not "%s"', (after) => {
    expect(faults(EventsQuerySchema, { after })).not.toStrictEqual([]);
  });
});
