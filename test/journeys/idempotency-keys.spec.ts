import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
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

describe('an Idempotency-Key', () => {
  test('is that of one subject, tenant and route', async () => {
    const key = freshKey();
    const others = [
      await house.server.key('agent:other', ['ask']),
      await house.server.key('agent:deployer', ['ask'], 'acme'),
    ];
    const ids = [];
    for (const caller of [house.people.asker, ...others])
      ids.push(
        (await successful<Question>(await post('/v1/questions', key, questionBody(), caller), 201)).id,
      );
    expect(new Set(ids).size).toBe(3);
    const cancelled = await post(`/v1/questions/${ids[0]}/cancel`, key, {});
    expect([replayed(cancelled), (await successful<Attempt>(cancelled)).applied]).toStrictEqual([null, true]);
  });

  test('is the same for another key of the same subject', async () => {
    const key = freshKey();
    const first = await successful(await post('/v1/questions', key, questionBody()), 201);
    const another = await house.server.key('agent:deployer', ['ask']);
    expect(await successful(await post('/v1/questions', key, questionBody(), another), 201)).toStrictEqual(
      first,
    );
  });

  test('never tells of one question for another', async () => {
    const [one, two] = [await house.ask(), await house.ask()];
    const key = freshKey();
    await successful(await post(`/v1/questions/${one.id}/answer`, key, { option: 'yes' }, house.people.ada));
    const second = await post(`/v1/questions/${two.id}/answer`, key, { option: 'yes' }, house.people.ada);
    const { applied, question } = await successful<Attempt>(second);
    expect([applied, question.id]).toStrictEqual([true, two.id]);
  });

  test('shows nothing to who may not see it any more', async () => {
    await house.room('ops', ['user:ada']);
    const { id } = await house.ask({ scope: { kind: 'room', room: 'ops' } });
    const [path, key] = [`/v1/questions/${id}/answer`, freshKey()];
    await post(path, key, { option: 'yes' }, house.people.ada);
    await problem(await post(path, key, { option: 'yes' }), 403);
    await problem(await post(path, key, { option: 'yes' }, house.people.bo), 404);
  });

  test('keeps no key in the open', async () => {
    const body = { subject: 'agent:secret', scopes: ['ask'] };
    const { key } = await successful<{ key: string }>(
      await post('/v1/keys', freshKey(), body, house.people.admin),
      201,
    );
    const client = new pg.Client(house.database.connection);
    await client.connect();
    const { rows } = await client.query<{ name: string }>(
      "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'",
    );
    for (const { name } of rows) {
      const found = await client.query(`SELECT 1 FROM "${name}" t WHERE position($1 IN t::text) > 0`, [key]);
      expect([name, found.rowCount]).toStrictEqual([name, 0]);
    }
    await client.end();
  });

  test.each(['', 'x'.repeat(201)])('has 1 to 200 characters: %p', async (key) => {
    await problem(await post('/v1/questions', key, questionBody()), 422);
  });

  test('may have 200 characters of any kind that a header takes', async () => {
    const key = '!"#é~'.repeat(40);
    const first = await successful(await post('/v1/questions', key, questionBody()), 201);
    expect(await successful(await post('/v1/questions', key, questionBody()), 201)).toStrictEqual(first);
  });

  test('is for nothing when the request was refused', async () => {
    const key = freshKey();
    await problem(await post('/v1/questions', key, questionBody({ prompt: '' })), 422);
    expect(
      (await house.list(`asker=agent:deployer&limit=200`)).data.every(({ prompt }) => prompt !== ''),
    ).toBe(true);
  });
});
