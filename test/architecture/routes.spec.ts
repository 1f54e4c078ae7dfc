import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { METHOD_METADATA } from '@nestjs/common/constants.js';
import { ROUTE, type RouteDeclaration } from '#platform';

const ROOT = new URL('../../', import.meta.url).pathname;

interface Handler {
  readonly name: string;
  readonly route: RouteDeclaration | undefined;
}

/** Every method that Nest routes, of every controller in the house. */
async function handlers(): Promise<Handler[]> {
  const files = ['libs', 'services'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.controller.ts'))
      .map((file) => join(ROOT, folder, file)),
  );
  const found: Handler[] = [];
  // One after the other: Jest's loader of modules cannot link the same one twice at once.
  for (const file of files) found.push(...Object.values((await import(file)) as object).flatMap(handlersOf));
  return found;
}

function handlersOf(exported: unknown): Handler[] {
  if (typeof exported !== 'function' || exported.prototype === undefined) return [];
  const prototype = exported.prototype as Record<string, unknown>;
  return Object.getOwnPropertyNames(prototype).flatMap((method) => {
    const handler = prototype[method];
    if (typeof handler !== 'function' || !Reflect.hasMetadata(METHOD_METADATA, handler)) return [];
    return [{ name: `${exported.name}.${method}`, route: Reflect.getMetadata(ROUTE, handler) }];
  });
}

describe('every route', () => {
  it('is declared, with its authorization', async () => {
    const found = await handlers();
    expect(found.length).toBeGreaterThan(20);
    for (const { name, route } of found)
      expect({ name, access: route?.access }).toEqual({ name, access: expect.anything() });
  });

  it('has a schema for its parameters, its body and its answer', async () => {
    for (const { name, route } of await handlers()) {
      const names = [...(route?.path ?? '').matchAll(/:(\w+)/g)].map(([, parameter]) => parameter);
      const parameters = Object.keys((route?.params as { shape?: object } | undefined)?.shape ?? {});
      expect({ name, parameters }).toEqual({ name, parameters: names });
      expect({ name, answers: Object.keys(route?.answers ?? {}).length }).not.toEqual({ name, answers: 0 });
      const takesBody = route?.method === 'POST' || route?.method === 'PATCH';
      expect({ name, body: route?.body !== undefined }).toEqual({ name, body: takesBody });
    }
  });

  it('is open to everybody only when it is one of operations', async () => {
    const open = (await handlers())
      .filter(({ route }) => route?.access === 'public')
      .map(({ route }) => route?.path);
    expect(open.sort()).toEqual(['/docs', '/docs/:file', '/healthz', '/metrics', '/openapi.json', '/readyz']);
  });

  it('stands at one place only', async () => {
    const places = (await handlers()).map(({ route }) => `${route?.method} ${route?.path}`);
    expect(new Set(places).size).toBe(places.length);
  });
});
