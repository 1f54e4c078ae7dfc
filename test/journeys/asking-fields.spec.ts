import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Body, House, NO, questionBody, YES } from '../support/journeys/house.js';
import { badFields, problem } from '../support/journeys/problems.js';

let house: House;
beforeAll(async () => {
  house = await House.open();
});
afterAll(() => house.close());

const refused = async (change: Body) =>
  badFields(await house.post('/v1/questions', house.people.asker, questionBody(change)));
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();
const direct = (user: unknown) => ({ kind: 'direct', user });
const text = (length: number) => 'x'.repeat(length);

const bad: Readonly<Record<string, readonly (readonly [string, unknown])[]>> = {
  prompt: [
    ['missing', undefined],
    ['empty', ''],
    ['too long', text(2_001)],
    ['a number', 5],
    ['null', null],
    ['with U+0000', 'a\u0000b'],
    ['with a lone surrogate', 'a\ud800b'],
  ],
  context: [
    ['too long in bytes', `${'é'.repeat(8_192)}x`],
    ['a list', ['x']],
    ['with U+0000', '\u0000'],
    ['with a lone surrogate', '\udfff'],
  ],
  options: [
    ['missing', undefined],
    ['none without allowText', []],
    ['too many', Array.from({ length: 21 }, (_, index) => ({ id: `${index}`, label: 'x' }))],
    ['of the same id', [YES, { id: 'yes', label: 'Also yes' }]],
    ['an object', { yes: 'Yes' }],
    ['of texts', ['yes']],
    ['without an id', [{ label: 'Yes' }]],
    ['without a label', [{ id: 'yes' }]],
    ['with an empty id', [{ id: '', label: 'Yes' }]],
    ['with an empty label', [{ id: 'yes', label: '' }]],
    ['with an id that is a number', [{ id: 1, label: 'Yes' }]],
    ['with a description that is a number', [{ ...YES, description: 1 }]],
    ['with a field of no meaning', [{ ...YES, colour: 'red' }]],
    ['with U+0000 in an id', [{ id: '\u0000', label: 'Yes' }]],
    ['with a lone surrogate in a label', [{ id: 'yes', label: '\ud83d' }]],
  ],
  allowText: [
    ['a text', 'true'],
    ['a number', 1],
  ],
  allowSkip: [
    ['a text', 'no'],
    ['a list', []],
  ],
  defaultOption: [
    ['unknown', 'maybe'],
    ['a label', 'Yes'],
    ['a number', 1],
    ['empty', ''],
  ],
  scope: [
    ['missing', undefined],
    ['a text', 'user:ada'],
    ['of no kind', {}],
    ['of an unknown kind', { kind: 'world' }],
    ['direct without a user', { kind: 'direct' }],
    ['direct with an empty user', direct('')],
    ['direct with a user that is too long', direct(text(201))],
    ['direct with a space in the user', direct('user: ada')],
    ['direct with a control character in the user', direct('user:\u0007ada')],
    ['direct with a user that is a number', direct(7)],
    ['direct with a room', { kind: 'direct', user: 'user:ada', room: 'ops' }],
    ['room without a room', { kind: 'room' }],
    ['room that does not exist', { kind: 'room', room: 'nowhere' }],
    ['room with U+0000', { kind: 'room', room: 'o\u0000ps' }],
  ],
  expiresIn: [
    ['zero', 0],
    ['negative', -1],
    ['beyond ninety days', 7_776_001],
    ['a text', '60'],
    ['a list', [60]],
  ],
  expiresAt: [
    ['in the past', '2020-01-01T00:00:00.000Z'],
    ['no time', 'tomorrow'],
    ['a number', 1_900_000_000],
    ['without a zone', '2099-01-01T00:00:00'],
    ['an impossible day', '2027-02-30T00:00:00Z'],
    ['beyond ninety days', '2199-01-01T00:00:00Z'],
  ],
  metadata: [
    ['a list', []],
    ['a text', 'x'],
    ['a number', 3],
    ['too long in bytes', { m: `${'é'.repeat((4_096 - 8) / 2)}x` }],
    ['with U+0000 as a value', { a: '\u0000' }],
    ['with U+0000 as a key', { '\u0000': 1 }],
    ['with a lone surrogate deep inside', { a: [{ b: { c: ['\udc00'] } }] }],
    ['with a lone surrogate as a key deep inside', { a: [{ b: { '\ud800': 1 } }] }],
  ],
  conversation: [
    ['empty', ''],
    ['too long', text(201)],
    ['a number', 4],
    ['with U+0000', '\u0000'],
  ],
  turn: [
    ['empty', ''],
    ['too long', text(201)],
    ['a list', ['t']],
  ],
};

describe('a question is refused with 422 and the field is named', () => {
  for (const [field, cases] of Object.entries(bad))
    test.each(cases)(`${field}: %s`, async (_, value) => {
      const conversation = field === 'turn' ? { conversation: 'chat' } : {};
      const fields = await refused({ ...conversation, [field]: value });
      expect([...new Set(fields.map((path) => path.split('.')[0]))]).toStrictEqual([field]);
    });

  test('both deadlines at once', async () => {
    const fields = await refused({ expiresIn: 60, expiresAt: inAnHour() });
    expect(fields.length).toBeGreaterThan(0);
  });

  test('a field that nobody knows', async () => {
    expect(await refused({ priority: 1 })).toStrictEqual(['priority']);
  });

  test('what only the server says', async () => {
    const claims = { id: 'x', state: 'answered', asker: 'user:eve', tenant: 'acme', outcome: {}, version: 9 };
    for (const [name, claim] of Object.entries(claims))
      expect(await refused({ [name]: claim })).toStrictEqual([name]);
  });

  test('each bad field of several, once', async () => {
    const fields = await refused({ prompt: '', allowText: 'x', expiresIn: 0, metadata: [], priority: 1 });
    expect(fields).toStrictEqual(['allowText', 'expiresIn', 'metadata', 'priority', 'prompt']);
  });

  test('a bad part of an option, by its place', async () => {
    expect(await refused({ options: [YES, { ...NO, label: '' }] })).toStrictEqual(['options.1.label']);
  });

  test.each([
    ['a list', []],
    ['a text', '"x"'],
    ['a number', 5],
    ['null', null],
  ])('a body that is %s', async (_, body) => {
    await problem(await house.post('/v1/questions', house.people.asker, body), 422);
  });

  test('and nothing of it was kept', async () => {
    expect(await house.list('')).toStrictEqual({ data: [], nextCursor: null });
  });
});
