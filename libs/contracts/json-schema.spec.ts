import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import * as contracts from '#contracts';

const schemas = Object.entries<unknown>(contracts).flatMap(([name, value]): [string, z.ZodType][] =>
  value instanceof z.ZodType ? [[name, value]] : [],
);

function jsonSchema(schema: z.ZodType): Record<string, unknown> {
  return z.toJSONSchema(schema, { target: 'draft-2020-12', io: 'input' });
}

describe('every schema of the contracts', () => {
  it('is found', () => {
    expect(schemas.length).toBeGreaterThan(20);
  });

  it.each(schemas)('%s can be documented as JSON Schema', (_name, schema) => {
    const document = jsonSchema(schema);

    expect(document.$schema).toBe('https://json-schema.org/draft/2020-12/schema');
    // An empty schema would document nothing.
    expect(Object.keys(document).length).toBeGreaterThan(1);
  });

  it('with an id has one that no other has', () => {
    const ids = schemas.flatMap(([, schema]) => z.globalRegistry.get(schema)?.id ?? []);

    expect(ids).toStrictEqual([...new Set(ids)]);
  });
});

describe('the documentation of asking', () => {
  const { $defs } = jsonSchema(contracts.AskBodySchema) as {
    $defs: Record<string, { properties: unknown; required: string[]; additionalProperties: boolean }>;
  };

  it('tells what must be there, how long it may be, and that nothing else is taken', () => {
    expect($defs.AskQuestion).toMatchObject({
      required: ['prompt', 'scope'],
      additionalProperties: false,
      properties: {
        prompt: { type: 'string', minLength: 1, maxLength: 2_000 },
        options: { type: 'array', maxItems: 20, default: [] },
        expiresIn: { type: 'number', minimum: 1, maximum: 7_776_000 },
        expiresAt: { type: 'string', format: 'date-time' },
      },
    });
  });
});
