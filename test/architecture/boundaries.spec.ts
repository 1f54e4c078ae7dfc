import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { cruise, type ICruiseOptions, type ICruiseResult, type IResolveOptions } from 'dependency-cruiser';
import { BREACHES, buildBrokenHouse } from './broken-house.js';
import { impurities } from './impurities.js';

const ROOT = process.cwd();
const FOLDERS = ['libs', 'services', 'test'];

interface Rules {
  readonly forbidden: readonly { readonly name: string }[];
  readonly options: ICruiseOptions;
}

/** Who breaks which rule, as `rule: file`. */
async function breaches(house: string): Promise<readonly string[]> {
  const { default: rules }: { default: Rules } = await import(join(ROOT, '.dependency-cruiser.mjs'));
  const options = {
    ...rules.options,
    baseDir: house,
    validate: true,
    ruleSet: { forbidden: rules.forbidden },
  };
  const resolve = { ...rules.options.enhancedResolveOptions, alias: entries(house), bustTheCache: true };
  const folders = FOLDERS.filter((folder) => existsSync(join(house, folder)));
  const { output } = await cruise(folders, options as ICruiseOptions, resolve as unknown as IResolveOptions);
  const { violations } = (output as ICruiseResult).summary;
  return violations.map(({ rule, from, to }) => `${rule.name}: ${from} -> ${to}`).sort();
}

/** What `#name` stands for in the sources, so that nothing depends on a build. */
function entries(house: string): Record<string, string> {
  const { imports }: { imports: Record<string, string> } = JSON.parse(
    readFileSync(join(ROOT, 'package.json'), 'utf8'),
  );
  const source = (built: string) => join(house, built.replace('./dist/', '').replace(/\.js$/, '.ts'));
  return Object.fromEntries(Object.entries(imports).map(([name, built]) => [`${name}$`, source(built)]));
}

describe('the house', () => {
  it('keeps its boundaries', async () => {
    expect(await breaches(ROOT)).toStrictEqual([]);
  });
});

describe('each boundary', () => {
  it('is guarded: whoever breaks it is named, and nobody else', async () => {
    const { folder, remove } = buildBrokenHouse(ROOT);
    try {
      const found = (await breaches(folder)).map((breach) => breach.replace(/ -> .*$/, ''));
      expect([...new Set(found)]).toStrictEqual(BREACHES.map(([rule, file]) => `${rule}: ${file}`).sort());
    } finally {
      remove();
    }
  });

  it('is broken once at least to show it', async () => {
    const { default: rules }: { default: Rules } = await import(join(ROOT, '.dependency-cruiser.mjs'));

    const shown = new Set(BREACHES.map(([rule]) => rule));
    expect([...shown].sort()).toStrictEqual(rules.forbidden.map(({ name }) => name).sort());
  });
});

describe('domain and contracts depend on their input alone', () => {
  const sources = ['libs/contracts', 'libs/domain'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'))
      .map((file) => join(folder, file)),
  );

  it.each(sources)('%s', (file) => {
    expect(impurities(readFileSync(file, 'utf8'))).toStrictEqual([]);
  });

  it.each([
    'Date.now();',
    'const { now } = Date;',
    'new Date();',
    'new Date;',
    'Date();',
    'Math.random();',
    'const { random } = Math;',
    'crypto.randomUUID();',
    'globalThis.crypto;',
    'process.env.PORT;',
    'const settings = { process };',
    'setTimeout(() => {}, 1);',
    'setInterval(tick, 1);',
    'setImmediate(tick);',
    'queueMicrotask(tick);',
    'performance.now();',
    'fetch(address);',
    'console.log(state);',
    'await import("pg");',
    'import.meta.url;',
    'require("pg");',
  ])('which "%s" does not', (source) => {
    expect(impurities(source)).toHaveLength(1);
  });

  it.each([
    'new Date(value).toISOString();',
    'Date.parse(at);',
    'Math.round(seconds);',
    'const at: Date = read(value);',
    'clock.process; const job = { process: 1 };',
    '// Date.now() and Math.random()',
    "const text = 'process.env';",
    "import type { Question } from './question.js';",
  ])('which "%s" does', (source) => {
    expect(impurities(source)).toStrictEqual([]);
  });
});
