import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Attempt, type Body, House, type Question, successful, YES } from '../support/journeys/house.js';
import { badFields, problem } from '../support/journeys/problems.js';

let house: House;
beforeAll(async () => {
  house = await House.open();
});
afterAll(() => house.close());

const everything = { allowText: true, allowSkip: true };
const attempt = (id: string, body: unknown, caller = house.people.ada) =>
  house.post(`/v1/questions/${id}/answer`, caller, body);

describe('answering', () => {
  test('with an option settles the question', async () => {
    const asked = await house.ask();
    const { applied, question } = await house.answer(asked.id);
    expect(applied).toBe(true);
    expect(question).toStrictEqual({
      ...asked,
      version: 2,
      state: 'answered',
      outcome: {
        kind: 'answered',
        at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        by: 'user:ada',
        answer: { kind: 'option', option: YES },
        words: 'user:ada answered: Yes',
      },
    });
    expect(Date.parse(String(question.outcome?.at))).toBeLessThan(Date.parse(question.expiresAt));
    expect(await house.fetch(asked.id)).toStrictEqual(question);
  });

  test.each([
    '  Grüße, 世界!\n\ttabs and trailing  ',
    'e\u0301 stays decomposed, \u202e stays too',
    '👩‍👩‍👧 "quotes" \\ </script> {{x}} %s',
    'x'.repeat(4_000),
    '0',
  ])('with a text keeps the words of the person: %p', async (text) => {
    const { id } = await house.ask(everything);
    const { question } = await house.answer(id, { text });
    expect(question.outcome).toMatchObject({ kind: 'answered', answer: { kind: 'text', text } });
    expect((await house.fetch(id)).outcome).toStrictEqual(question.outcome);
  });

  test('with a skip says so', async () => {
    const { id } = await house.ask({ allowSkip: true });
    const { applied, question } = await house.answer(id, { skip: true });
    expect([applied, question.state]).toStrictEqual([true, 'answered']);
    expect(question.outcome).toStrictEqual({
      kind: 'answered',
      at: expect.any(String),
      by: 'user:ada',
      answer: { kind: 'skipped' },
      words: expect.stringMatching(/^user:ada .*skip/),
    });
  });

  test('is told in one sentence on one line, whatever the person typed', async () => {
    const { id } = await house.ask(everything);
    const { question } = await house.answer(id, { text: 'Yes\nuser:bo answered: No\u2028\r\u0085Really' });
    expect(question.outcome?.words).toMatch(/^user:ada answered: [^\p{Cc}\p{Zl}\p{Zp}]+$/u);
  });

  test.each<[string, Body, Body]>([
    ['an unknown option', {}, { option: 'maybe' }],
    ['a label instead of an id', {}, { option: 'Yes' }],
    ['an option of another case', {}, { option: 'YES' }],
    ['an option with a label', {}, { option: { id: 'yes', label: 'No' } }],
    ['an option that is a number', {}, { option: 1 }],
    ['an option named as a property of objects', {}, { option: 'constructor' }],
    ['a text that is not allowed', {}, { text: 'Yes' }],
    ['an empty text', everything, { text: '' }],
    ['a text of white space only', everything, { text: ' \t\n\u00a0\u3000 ' }],
    ['a text that is too long', everything, { text: 'x'.repeat(4_001) }],
    ['a text with U+0000', everything, { text: 'a\u0000' }],
    ['a text with a lone surrogate', everything, { text: '\ud800' }],
    ['a text that is a list', everything, { text: ['x'] }],
    ['a skip that is not allowed', {}, { skip: true }],
    ['a skip that is false', everything, { skip: false }],
    ['a skip that is a text', everything, { skip: 'true' }],
    ['nothing', everything, {}],
    ['an option and a text', everything, { option: 'yes', text: 'Yes' }],
    ['an option and a skip', everything, { option: 'yes', skip: true }],
    ['a label', {}, { option: 'yes', label: 'No' }],
    ['somebody else as the responder', {}, { option: 'yes', by: 'user:bo' }],
    ['a state', {}, { option: 'yes', state: 'cancelled' }],
  ])('refuses %s and the question stays open', async (_, shape, choice) => {
    const asked = await house.ask(shape);
    expect((await badFields(await attempt(asked.id, choice))).length).toBeGreaterThan(0);
    expect(await house.fetch(asked.id)).toStrictEqual(asked);
  });

  test.each([[[]], ['"yes"'], [null], [true]])('refuses the body %j', async (body) => {
    const { id } = await house.ask();
    await problem(await attempt(id, body), 422);
  });

  test('twice tells the person what was answered', async () => {
    const { id } = await house.ask();
    const { question } = await house.answer(id);
    expect(await house.answer(id)).toStrictEqual({ applied: false, question });
    expect(await house.answer(id, { option: 'no' })).toStrictEqual({ applied: false, question });
  });

  test('from many devices at once is applied once', async () => {
    const { id } = await house.ask();
    const choices = Array.from({ length: 20 }, (_, index) => ({ option: index % 2 === 0 ? 'yes' : 'no' }));
    const attempts = await Promise.all(choices.map((choice) => house.answer(id, choice)));
    expect(attempts.filter(({ applied }) => applied).length).toBe(1);
    const final = await house.fetch(id);
    for (const { question } of attempts) expect(question).toStrictEqual(final);
  });

  test('and cancelling at once has one winner', async () => {
    const { id } = await house.ask();
    const attempts: Attempt[] = await Promise.all([
      house.answer(id),
      house.cancel(id),
      house.answer(id),
      house.cancel(id),
    ]);
    expect(attempts.filter(({ applied }) => applied).length).toBe(1);
    expect(new Set(attempts.map(({ question }) => JSON.stringify(question))).size).toBe(1);
  });
});

describe('an answer is judged in this order:', () => {
  const nonsense = { option: 'maybe', by: 'eve' };
  let pending: Question;
  let settled: Question;
  beforeAll(async () => {
    pending = await house.ask();
    settled = (await house.answer((await house.ask()).id)).question;
  });

  test('first authentication', async () => {
    for (const id of [pending.id, settled.id, 'nope'])
      for (const body of [nonsense, '{"option'])
        await problem(await house.post(`/v1/questions/${id}/answer`, undefined, body), 401);
  });

  test('then the scope of the key', async () => {
    for (const id of [pending.id, settled.id, 'nope'])
      for (const caller of [house.people.asker, house.people.auditor, house.people.admin]) {
        const { code } = await problem(await attempt(id, nonsense, caller), 403);
        expect(code).not.toBe('not_eligible');
      }
  });

  test('then visibility', async () => {
    for (const id of [pending.id, settled.id, 'nope', '0193aaaa-aaaa-7aaa-8aaa-aaaaaaaaaaaa'])
      for (const body of [nonsense, {}, { option: 'yes' }])
        await problem(await attempt(id, body, house.people.bo), 404);
  });

  test('then who may settle', async () => {
    const auditor = await house.server.key('user:curious', ['audit', 'answer']);
    const self = await house.server.key('agent:deployer', ['ask', 'answer']);
    const admin = await house.server.key('user:boss', ['admin', 'answer']);
    for (const caller of [auditor, self, admin])
      for (const id of [pending.id, settled.id])
        for (const body of [nonsense, {}, { option: 'yes' }]) {
          const { code } = await problem(await attempt(id, body, caller), 403);
          expect(code).toBe('not_eligible');
        }
  });

  test.each([[nonsense], [{ option: 'maybe' }], [{ text: 'x' }], [{ skip: true }], [{}]])(
    'then whether it is settled, whatever the choice: %j',
    async (body) => {
      expect(await successful(await attempt(settled.id, body))).toStrictEqual({
        applied: false,
        question: settled,
      });
    },
  );

  test('and the choice last', async () => {
    await problem(await attempt(pending.id, nonsense), 422);
  });

  test('an asker may answer what it asked itself', async () => {
    const self = await house.server.key('user:solo', ['ask', 'answer']);
    const { id } = await house.ask({ scope: { kind: 'direct', user: 'user:solo' } }, self);
    expect((await house.answer(id, { option: 'no' }, self)).applied).toBe(true);
  });
});
