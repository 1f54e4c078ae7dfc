import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { createTestDatabase } from '../../test/support/database.js';
import { textArray } from './text-array.js';

let pool: pg.Pool;

beforeAll(async () => {
  pool = new pg.Pool((await createTestDatabase()).connection);
});

afterAll(() => pool.end());

describe('texts as an array parameter', () => {
  test.each([
    ['none', []],
    ['plain ones', ['a', 'bc', '']],
    ['what an array literal would have to escape', ['"', '\\', '{,}', 'NULL', '\n', '{"a":"\\u2028"}']],
    ['nulls between them', ['a', null, 'b', null]],
    ['more bytes than characters', ['é', '漢字', '😀']],
  ])('arrive as they were: %s', async (_what, texts) => {
    const { rows } = await pool.query('SELECT $1::text[] AS texts', [textArray(texts)]);
    expect(rows).toEqual([{ texts }]);
  });

  test('nothing is a null', async () => {
    const { rows } = await pool.query('SELECT $1::text[] AS texts', [textArray([undefined])]);
    expect(rows).toEqual([{ texts: [null] }]);
  });
});
