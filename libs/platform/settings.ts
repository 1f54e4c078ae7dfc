import { z } from 'zod';

/** One setting, read from the environment variable of its name. */
export interface Setting<Schema extends z.ZodType = z.ZodType> {
  readonly schema: Schema;
  /** For the documentation: what it is for, what is accepted, and the default. */
  readonly about: string;
}

export type Settings<Declared extends Record<string, Setting>> = {
  readonly [Name in keyof Declared]: z.output<Declared[Name]['schema']>;
};

/** A setting has a value that it cannot have; the message is one line that names it. */
export class InvalidSetting extends Error {
  override readonly name = 'InvalidSetting';
}

/** Reads settings from an environment; an empty variable counts as unset. */
export function readSettings<Declared extends Record<string, Setting>>(
  declared: Declared,
  environment: Readonly<Record<string, string | undefined>>,
): Settings<Declared> {
  const values = Object.entries(declared).map(([name, { schema }]) => {
    const given = environment[name];
    const result = schema.safeParse(given === '' ? undefined : given);
    if (result.success) return [name, result.data];
    throw new InvalidSetting(`${name}: ${result.error.issues.map(({ message }) => message).join('; ')}`);
  });
  return Object.fromEntries(values);
}

/** A whole number within bounds. */
export function integerSetting(min: number, max: number, fallback: number) {
  const error = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, error)
    .transform(Number)
    .refine((value) => value >= min && value <= max, { error })
    .default(fallback);
}

/** An address with one of the protocols. */
export function urlSetting(protocols: readonly string[]) {
  const error = `must be a URL that starts with ${protocols.map((protocol) => `${protocol}://`).join(' or ')}`;
  return z
    .string()
    .refine((value) => URL.canParse(value) && protocols.includes(new URL(value).protocol.slice(0, -1)), {
      error,
    });
}
