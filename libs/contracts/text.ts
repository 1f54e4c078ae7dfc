import { z } from 'zod';

const CONTROL_CHARACTER = /\p{Cc}/u;
const SPACE_OR_CONTROL = /[\p{Cc}\s]/u;
const NOT_WHITE_SPACE = /\S/u;

/** Length in Unicode code points, which is what JSON Schema's `maxLength` counts. */
export function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** A string of `min` to `max` code points, not of white space only. */
export function text(min: number, max: number) {
  return z
    .string()
    .refine((value) => value.length >= min && (value.length <= max || codePoints(value) <= max), {
      error: `must be ${min} to ${max} characters`,
      abort: true,
    })
    .refine((value) => value.length === 0 || NOT_WHITE_SPACE.test(value), {
      error: 'must not be white space only',
    })
    .meta({ minLength: min, maxLength: max });
}

/** A name chosen by a client: 1 to `max` characters, no control characters. */
export function name(max: number) {
  return text(1, max).refine((value) => !CONTROL_CHARACTER.test(value), {
    error: 'must not contain control characters',
  });
}

/** A name that also stands in addresses and log lines: no white space. */
export function token(max: number) {
  return text(1, max).refine((value) => !SPACE_OR_CONTROL.test(value), {
    error: 'must not contain spaces or control characters',
  });
}

/** A string of at most `max` bytes in UTF-8. */
export function textOfBytes(max: number) {
  return z.string().refine((value) => value.length * 3 <= max || Buffer.byteLength(value) <= max, {
    error: `must be at most ${max} bytes in UTF-8`,
  });
}

const FIRST_INSTANT = Date.parse('0001-01-01T00:00:00.000Z');
const LAST_INSTANT = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * An RFC 3339 time, with any offset, turned into UTC with milliseconds. In UTC its year still has four digits and is not
 * 0: only then do instants compare as text, and only then can PostgreSQL read them.
 */
export const TimeSchema = z.iso
  .datetime({ offset: true, error: 'must be an RFC 3339 time such as 2026-11-30T17:28:00.000Z' })
  .transform((value, context) => {
    const instant = new Date(value);
    const milliseconds = instant.getTime();
    if (milliseconds >= FIRST_INSTANT && milliseconds <= LAST_INSTANT) return instant.toISOString();
    context.addIssue({ code: 'custom', message: 'must be a time of the years 1 to 9999 in UTC' });
    return z.NEVER;
  });

/** A number of seconds in a query string. */
export function secondsInQuery(max: number) {
  return z
    .string()
    .regex(/^\d{1,9}(\.\d{1,3})?$/, 'must be a number of seconds')
    .transform(Number)
    .refine((value) => value <= max, { error: `must be 0 to ${max} seconds` });
}

/** A whole number in a query string. */
export function integerInQuery(min: number, max: number) {
  return z
    .string()
    .regex(/^\d{1,16}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, {
      error: `must be a whole number from ${min} to ${max}`,
    });
}

/** A UUID in a request; any case is accepted, ids are lower case everywhere else. */
export const IdSchema = z.uuid('must be a UUID').toLowerCase();

export const SubjectSchema = token(200);
export const TenantSchema = token(100);
export const RoomNameSchema = token(200);
export const NameSchema = name(200);
