import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { House, type Question, successful } from '../support/journeys/house.js';
import { badFields, problem } from '../support/journeys/problems.js';

let house: House;
beforeAll(async () => {
  house = await House.open();
});
afterAll(() => house.close());

const attempt = (id: string, body: unknown, caller = house.people.asker) =>
  house.post(`/v1/questions/${id}/cancel`, caller, body);

describe('cancelling', () => {
  test('by the asker settles the question', async () => {
    const asked = await house.ask();
    const { applied, question } = await house.cancel(asked.id, { reason: 'Build 1235 is out' });
    expect(applied).toBe(true);
    expect(question).toStrictEqual({
      ...asked,
      version: 2,
      state: 'cancelled',
      outcome: {
        kind: 'cancelled',
        at: expect.stringMatching(/Z$/),
        by: 'agent:deployer',
        reason: 'Build 1235 is out',
        words: expect.stringContaining('agent:deployer'),
      },
    });
    expect(await house.fetch(asked.id)).toStrictEqual(question);
  });

  test('needs no reason', async () => {
    const { question } = await house.cancel((await house.ask()).id);
    expect(question.outcome).toMatchObject({ reason: null });
  });

  test('needs no body', async () => {
    const { id } = await house.ask();
    const path = `/v1/questions/${id}/cancel`;
    const response = await house.server.call('POST', path, { key: house.people.asker.key });
    expect(await successful(response)).toMatchObject({ applied: true, question: { state: 'cancelled' } });
  });

  test('by an admin says who did it', async () => {
    const { question } = await house.cancel((await house.ask()).id, {}, house.people.admin);
    expect(question.outcome).toMatchObject({ kind: 'cancelled', by: 'user:root' });
  });

  test('twice changes nothing more', async () => {
    const { id } = await house.ask();
    const { question } = await house.cancel(id, { reason: 'first' });
    expect(await house.cancel(id, { reason: 'second' })).toStrictEqual({ applied: false, question });
    expect(await house.cancel(id, {}, house.people.admin)).toStrictEqual({ applied: false, question });
  });

  test('makes answers too late', async () => {
    const { id } = await house.ask();
    const { question } = await house.cancel(id);
    expect(await house.answer(id)).toStrictEqual({ applied: false, question });
  });

  test('is too late after an answer', async () => {
    const { id } = await house.ask();
    const { question } = await house.answer(id);
    expect(await house.cancel(id, { reason: 'too late' })).toStrictEqual({ applied: false, question });
  });

  test.each([
    ['a reason that is a number', { reason: 5 }, 'reason'],
    ['a reason with U+0000', { reason: '\u0000' }, 'reason'],
    ['a reason with a lone surrogate', { reason: '\ud800' }, 'reason'],
    ['somebody else', { by: 'user:bo' }, 'by'],
  ])('refuses %s', async (_, body, field) => {
    const asked = await house.ask();
    expect(await badFields(await attempt(asked.id, body))).toStrictEqual([field]);
    expect(await house.fetch(asked.id)).toStrictEqual(asked);
  });

  test('refuses a reason without an end', async () => {
    const { id } = await house.ask();
    expect(await badFields(await attempt(id, { reason: 'x'.repeat(60_000) }))).toStrictEqual(['reason']);
  });
});

describe('a withdrawal is judged in this order:', () => {
  let pending: Question;
  beforeAll(async () => {
    pending = await house.ask();
  });

  test('first authentication', async () => {
    await problem(await house.post(`/v1/questions/${pending.id}/cancel`, undefined, {}), 401);
  });

  test('then the scope of the key', async () => {
    for (const caller of [house.people.ada, house.people.auditor, house.people.bo])
      for (const id of [pending.id, 'nope']) await problem(await attempt(id, {}, caller), 403);
  });

  test('then visibility', async () => {
    const stranger = await house.server.key('agent:other', ['ask']);
    for (const id of [pending.id, 'nope']) await problem(await attempt(id, { by: 'x' }, stranger), 404);
    await problem(await attempt('nope', {}, house.people.admin), 404);
  });

  test('then who may settle', async () => {
    const target = await house.server.key('user:ada', ['answer', 'ask']);
    const auditor = await house.server.key('user:auditor', ['audit', 'ask']);
    for (const caller of [target, auditor]) {
      const { code } = await problem(await attempt(pending.id, { by: 'x' }, caller), 403);
      expect(code).toBe('not_eligible');
    }
  });

  test('then whether it is settled', async () => {
    const { question } = await house.answer((await house.ask()).id);
    expect(await successful(await attempt(question.id, {}))).toStrictEqual({ applied: false, question });
  });

  test('and nothing of all this touched the question', async () => {
    expect(await house.fetch(pending.id)).toStrictEqual(pending);
  });
});
