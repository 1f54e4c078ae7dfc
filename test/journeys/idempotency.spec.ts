import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { raiseBarrier } from '../support/barrier.js';
import {
  type Attempt,
  type Body,
  House,
  type Question,
  questionBody,
  successful,
} from '../support/journeys/house.js';
import { problem } from '../support/journeys/problems.js';
import type { Caller } from '../support/settled-process.js';

let house: House;
beforeAll(async () => {
  house = await House.open();
});
afterAll(() => house.close());

let made = 0;
const freshKey = () => `key-${++made}`;
const post = (path: string, key: string, body: Body, caller: Caller = house.people.asker) =>
  house.post(path, caller, body, { headers: { 'idempotency-key': key } });
const replayed = (response: Response) => response.headers.get('idempotency-replayed');

describe('a POST that is sent again with its Idempotency-Key', () => {
  const routes: Record<string, () => Promise<[string, Body, Body, Caller]>> = {
    'asks once': async () => [
      '/v1/questions',
      questionBody(),
      questionBody({ prompt: 'Other?' }),
      house.people.asker,
    ],
    'answers once': async () => {
      const { id } = await house.ask();
      return [`/v1/questions/${id}/answer`, { option: 'yes' }, { option: 'no' }, house.people.ada];
    },
    'cancels once': async () => {
      const { id } = await house.ask();
      return [`/v1/questions/${id}/cancel`, { reason: 'a' }, { reason: 'b' }, house.people.asker];
    },
    'makes one key': async () => {
      const body = { subject: `agent:${freshKey()}`, scopes: ['ask'] };
      return ['/v1/keys', body, { ...body, scopes: ['ask', 'audit'] }, house.people.admin];
    },
  };

  test.each(Object.entries(routes))('%s, and refuses another body', async (_, route) => {
    const [path, body, other, caller] = await route();
    const key = freshKey();
    const first = await post(path, key, body, caller);
    expect(replayed(first)).toBeNull();
    const result = await successful(first, first.status);
    for (let time = 0; time < 2; time += 1) {
      const again = await post(path, key, body, caller);
      expect([again.status, replayed(again)]).toStrictEqual([first.status, 'true']);
      expect(again.headers.get('location')).toBe(first.headers.get('location'));
      expect(await again.json()).toStrictEqual(result);
    }
    const { code } = await problem(await post(path, key, other, caller), 422);
    expect(code).toBe('idempotency_key_reused');
  });

  test('is told that it was applied, also after others were told it was not', async () => {
    const { id } = await house.ask();
    const [path, key] = [`/v1/questions/${id}/answer`, freshKey()];
    const first = await successful<Attempt>(await post(path, key, { option: 'yes' }, house.people.ada));
    const late = await house.answer(id);
    expect([first.applied, late.applied]).toStrictEqual([true, false]);
    expect(await successful(await post(path, key, { option: 'yes' }, house.people.ada))).toStrictEqual(first);
  });

  test('is told again that it was too late', async () => {
    const { id } = await house.ask();
    await house.answer(id);
    const [path, key] = [`/v1/questions/${id}/cancel`, freshKey()];
    const first = await successful<Attempt>(await post(path, key, {}));
    expect(first.applied).toBe(false);
    expect(await successful(await post(path, key, {}))).toStrictEqual(first);
  });

  test('finds what was committed before a crash', async () => {
    const [asking, answering] = [freshKey(), freshKey()];
    const asked = await successful<Question>(await post('/v1/questions', asking, questionBody()), 201);
    const path = `/v1/questions/${asked.id}/answer`;
    const attempt = await successful<Attempt>(
      await post(path, answering, { option: 'yes' }, house.people.ada),
    );
    await house.restart('kill');
    const askedAgain = await post('/v1/questions', asking, questionBody());
    expect(replayed(askedAgain)).toBe('true');
    expect(await successful(askedAgain, 201)).toStrictEqual(asked);
    const answeredAgain = await post(path, answering, { option: 'yes' }, house.people.ada);
    expect(replayed(answeredAgain)).toBe('true');
    expect(await successful(answeredAgain)).toStrictEqual(attempt);
  });

  test('many times at once is done once', async () => {
    const key = freshKey();
    const chat = { conversation: key };
    const responses = await Promise.all(
      Array.from({ length: 20 }, () => post('/v1/questions', key, questionBody(chat))),
    );
    for (const response of responses) expect([201, 409]).toContain(response.status);
    expect((await house.list(`conversation=${key}`)).data.length).toBe(1);
  });

  test('is refused with 409 while the first still runs', async () => {
    const barrier = await raiseBarrier(house.database.connection);
    const key = freshKey();
    const running = post('/v1/questions', key, questionBody());
    try {
      await barrier.waiting(1);
      const second = await post('/v1/questions', key, questionBody());
      expect(second.headers.get('retry-after')).toMatch(/^\d+$/);
      expect((await problem(second, 409)).code).toBe('idempotency_in_progress');
    } finally {
      await barrier.release();
    }
    const first = await successful(await running, 201);
    expect(await successful(await post('/v1/questions', key, questionBody()), 201)).toStrictEqual(first);
  });
});
