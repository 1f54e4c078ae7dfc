import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { SETTINGS } from '../../services/settled/settings.js';

const README = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

describe('the README', () => {
  it('lists every setting as the code describes it', () => {
    const rows = README.split('\n').filter((line) => /^\| `[A-Z_]+` \|/.test(line));
    expect(rows).toEqual(Object.entries(SETTINGS).map(([name, { about }]) => `| \`${name}\` | ${about} |`));
  });

  it('links only to what is there', () => {
    const links = [...README.matchAll(/\]\((?!https?:)([^)]+)\)/g)].map(([, link]) => link as string);
    expect(links.length).toBeGreaterThan(3);
    for (const link of links)
      expect(() => readFileSync(new URL(`../../${link}`, import.meta.url))).not.toThrow(/ENOENT/);
  });
});
