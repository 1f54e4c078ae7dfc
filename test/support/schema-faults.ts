import type { z } from 'zod';

/** The paths at which a schema finds a fault, in its order; none when it takes the value. */
export function faults(schema: z.ZodType, value: unknown): readonly string[] {
  const result = schema.safeParse(value);
  return result.success ? [] : result.error.issues.map(({ path }) => path.join('.'));
}

/** A text of that many characters. */
export function filler(characters: number): string {
  return 'x'.repeat(characters);
}
