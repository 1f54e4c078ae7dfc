import { describe, expect, it } from '@jest/globals';
import { codePoints, NameSchema, RoomNameSchema, SubjectSchema, TenantSchema, TimeSchema } from '#contracts';
import { faults, filler } from '../../test/support/schema-faults.js';

describe('a time', () => {
  it.each([
    ['2026-11-30T17:28:00.000Z', '2026-11-30T17:28:00.000Z'],
    ['2026-11-30T17:28:00Z', '2026-11-30T17:28:00.000Z'],
    ['2026-11-30T17:28:00.5+02:00', '2026-11-30T15:28:00.500Z'],
    ['2026-12-01T00:13:00+05:45', '2026-11-30T18:28:00.000Z'],
    ['2026-11-30T17:28:00-00:00', '2026-11-30T17:28:00.000Z'],
    ['2026-11-30T17:28:00.123999Z', '2026-11-30T17:28:00.123Z'],
    ['2028-02-29T00:00:00Z', '2028-02-29T00:00:00.000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ])('%s is %s', (given, instant) => {
    expect(TimeSchema.parse(given)).toBe(instant);
  });

  it.each([
    '2026-11-30T17:28:00',
    '2026-11-30',
    '2026-11-30 17:28:00Z',
    '2026-02-29T00:00:00Z',
    '2026-11-31T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-11-30T24:00:00Z',
    '2026-11-30T17:28:00+0200',
    '1764523680',
    '',
  ])('is not %p', (given) => {
    expect(faults(TimeSchema, given)).toStrictEqual(['']);
  });

  it.each(['9999-12-31T23:59:59-00:01', '0001-01-01T00:00:00+00:01', '0000-06-01T00:00:00Z'])(
    'is not %s, whose year in UTC has not four digits or is 0',
    (given) => {
      expect(faults(TimeSchema, given)).toStrictEqual(['']);
    },
  );
});

describe('a name', () => {
  it.each([
    ['a subject', SubjectSchema, 200],
    ['a room', RoomNameSchema, 200],
    ['a tenant', TenantSchema, 100],
  ])(
    'of %s holds its limit of characters and neither spaces nor control characters',
    (_what, schema, max) => {
      expect(faults(schema, '🙂'.repeat(max))).toStrictEqual([]);
      const refused = [
        '',
        filler(max + 1),
        'user ada',
        'user\u00a0ada',
        'user\nada',
        'user\u0000',
        'user\u0085',
        ' ',
      ];
      for (const given of refused)
        expect([given, faults(schema, given).length > 0]).toStrictEqual([given, true]);
    },
  );

  it('of a conversation, a turn or an option may have spaces inside', () => {
    expect(faults(NameSchema, 'Release 12 🙂')).toStrictEqual([]);
    for (const given of ['', ' ', 'a\u0007b', filler(201)]) {
      expect([given, faults(NameSchema, given).length > 0]).toStrictEqual([given, true]);
    }
  });
});

describe('a length', () => {
  it('is counted in code points', () => {
    expect(['', 'é', 'e\u0301', '🙂', '👩‍👩‍👧'].map(codePoints)).toStrictEqual([0, 1, 2, 1, 5]);
  });
});
