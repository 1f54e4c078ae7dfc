import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { House, type Question, questionBody, successful } from '../support/journeys/house.js';
import { problem } from '../support/journeys/problems.js';
import { rawRequest } from '../support/journeys/raw-request.js';

let house: House;
let admin: string;
beforeAll(async () => {
  house = await House.open();
  admin = (await house.server.key('user:all', ['ask', 'answer', 'admin'])).key;
});
afterAll(() => house.close());

/** Sends a body as it is; requests of others that run in the same instant succeed. */
async function hostile(body: string | Uint8Array, path = '/v1/questions'): Promise<Response> {
  const [response, ...neighbours] = await Promise.all([
    rawRequest(house.server.url, { method: 'POST', path, key: admin, body }),
    house.ask(),
    house.ask({ metadata: { neighbour: true } }),
  ]);
  expect(neighbours.map(({ state }) => state)).toStrictEqual(['pending', 'pending']);
  return response;
}
/** A valid question, written as text, with a piece of text in the place of its metadata. */
const withMetadata = (metadata: string) =>
  JSON.stringify(questionBody({ metadata: 'HERE' })).replace('"HERE"', metadata);
const withPrompt = (prompt: string) =>
  JSON.stringify(questionBody({ prompt: 'HERE' })).replace('"HERE"', prompt);
const nested = (depth: number, open: string, close: string) => open.repeat(depth) + close.repeat(depth);

const UNFIT: readonly (readonly [string, string])[] = [
  ['U+0000', '\\u0000'],
  ['U+0000 amid text', 'a\\u0000b'],
  ['a lone high surrogate', '\\ud800'],
  ['a lone low surrogate', '\\udc00'],
  ['surrogates the wrong way round', '\\udc00\\ud800'],
  ['a surrogate after a pair', '\\ud83d\\ude00\\ud83d'],
];

describe.each(UNFIT)('text with %s is refused with 422 and harms nobody:', (_, text) => {
  test.each([
    ['as a value', withPrompt(`"${text}"`)],
    ['as an unknown key', withPrompt(`"x","${text}":1`)],
    ['in metadata', withMetadata(`{"a":"${text}"}`)],
    ['as a key of metadata', withMetadata(`{"${text}":1}`)],
    ['nested in metadata', withMetadata(`{"a":[{"b":[["${text}"]]}]}`)],
    ['as a key nested in metadata', withMetadata(`{"a":[{"b":[{"${text}":null}]}]}`)],
  ])('%s', async (_place, body) => {
    await problem(await hostile(body), 422);
  });

  test('in an answer, a reason and a subject', async () => {
    const { id } = await house.ask({ allowText: true, scope: { kind: 'direct', user: 'user:all' } });
    await problem(await hostile(`{"text":"${text}"}`, `/v1/questions/${id}/answer`), 422);
    await problem(await hostile(`{"option":"${text}"}`, `/v1/questions/${id}/answer`), 422);
    await problem(await hostile(`{"reason":"${text}"}`, `/v1/questions/${id}/cancel`), 422);
    await problem(await hostile(`{"subject":"${text}","scopes":["ask"]}`, '/v1/keys'), 422);
    await problem(await hostile(`{"subject":"x","scopes":["${text}"],"tenant":"${text}"}`, '/v1/keys'), 422);
    expect((await house.fetch(id)).state).toBe('pending');
  });
});

describe('bytes that are not UTF-8 are 400', () => {
  const sequences: [string, number[]][] = [
    ['a stray continuation', [0x80]],
    ['a byte that never occurs', [0xff]],
    ['an overlong slash', [0xc0, 0xaf]],
    ['an overlong null', [0xc0, 0x80]],
    ['half a character', [0xe2, 0x82]],
    ['an encoded surrogate', [0xed, 0xa0, 0x80]],
    ['beyond Unicode', [0xf4, 0x90, 0x80, 0x80]],
    ['Latin-1', [0xe9]],
  ];
  test.each(sequences)('%s', async (_, bytes) => {
    for (const body of [withPrompt('"HERE"'), withMetadata('{"HERE":1}'), withMetadata('{"a":["HERE"]}')]) {
      const [before = '', after = ''] = body.split('HERE');
      await problem(
        await hostile(Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)])),
        400,
      );
    }
  });

  test('UTF-16 with its mark', async () => {
    await problem(await hostile(Buffer.from(`\ufeff${withPrompt('"x"')}`, 'utf16le')), 400);
  });
});

describe('metadata', () => {
  test.each([
    '{"constructor":"x","prototype":[],"toString":null,"hasOwnProperty":{}}',
    '{"":1," ":2,"a.b":3,"$ne":4,"\\u2028":5}',
    '{"n":9007199254740993,"x":-0.5,"y":1e-7}',
    '{"a":{"b":{"c":[[[]]],"d":{}}},"e":"\\ud83d\\ude00"}',
    '{"2":"b","1":"a"}',
  ])('is kept as it came: %s', async (metadata) => {
    const question = await successful<Question>(await hostile(withMetadata(metadata)), 201);
    expect(question.metadata).toStrictEqual(JSON.parse(metadata));
    expect((await house.fetch(question.id, house.people.admin)).metadata).toStrictEqual(JSON.parse(metadata));
  });

  test.each([
    '{"__proto__":{"polluted":true}}',
    '{"a":{"__proto__":1}}',
    '{"constructor":{"prototype":{"polluted":true}}}',
  ])('that names what objects are made of is kept whole or refused: %s', async (metadata) => {
    const response = await hostile(withMetadata(metadata));
    if (response.status === 201) expect(await response.text()).toContain(`"metadata":${metadata}`);
    else await problem(response, 422);
    expect({}).not.toHaveProperty('polluted');
  });

  test.each(['1e400', '-1e400', '[1e400]', '{"a":1e999999}'])(
    'with a number that no number can hold is refused: %s',
    async (number) => {
      await problem(await hostile(withMetadata(`{"n":${number}}`)), 422);
    },
  );

  test.each([
    ['of lists, within 4 KiB', `{"a":${nested(2_000, '[', ']')}}`],
    ['of objects, within 4 KiB', `${'{"a":'.repeat(600)}1${'}'.repeat(600)}`],
  ])('that is nested deeply is kept or refused: %s', async (_, metadata) => {
    const response = await hostile(withMetadata(metadata));
    if (response.status === 201) expect(await response.text()).toContain(`"metadata":${metadata}`);
    else await problem(response, 422);
  });

  test('that is nested as deeply as a body can be is refused', async () => {
    await problem(await hostile(withMetadata(`{"a":${nested(32_000, '[', ']')}}`)), 422);
    await problem(await hostile(withMetadata(`${'{"":'.repeat(12_000)}1${'}'.repeat(12_000)}`)), 422);
  });

  test('that has very many keys is refused', async () => {
    const keys = Array.from({ length: 8_000 }, (_, index) => `"${index}":1`).join();
    await problem(await hostile(withMetadata(`{${keys.slice(0, 60_000).replace(/,[^,]*$/, '')}}`)), 422);
  });
});

describe('numbers, lists and objects in the wrong place', () => {
  test.each(['1e400', '-1e400', '1e-400', '0.0', '-0', '9007199254740993', 'true', '{}', '"1"'])(
    'are no span: %s',
    async (expiresIn) => {
      const body = JSON.stringify(questionBody({ expiresIn: 'HERE' })).replace('"HERE"', expiresIn);
      await problem(await hostile(body), 422);
    },
  );

  test.each(['prompt', 'options', 'scope', 'metadata', 'allowText', 'conversation'])(
    'nested without an end are no %s',
    async (field) => {
      for (const value of [nested(20_000, '[', ']'), `${'{"a":'.repeat(8_000)}1${'}'.repeat(8_000)}`]) {
        const body = JSON.stringify(questionBody({ [field]: 'HERE' })).replace('"HERE"', value);
        await problem(await hostile(body), 422);
      }
    },
  );

  test('many bad options are told within reason', async () => {
    const body = JSON.stringify(questionBody({ options: Array(20_000).fill(1) }));
    const response = await hostile(body);
    const size = (await response.clone().arrayBuffer()).byteLength;
    await problem(response, 422);
    expect(size).toBeLessThan(256 * 1024);
  });

  test('a body of unknown fields is refused', async () => {
    const fields = Array.from({ length: 5_000 }, (_, index) => `"f${index}":1`).join();
    await problem(await hostile(`{${fields}}`), 422);
  });
});
