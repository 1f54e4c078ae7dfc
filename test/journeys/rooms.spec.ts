import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ADA, BO, House, successful } from '../support/journeys/house.js';
import { problem } from '../support/journeys/problems.js';

let house: House;
beforeAll(async () => {
  house = await House.open();
});
afterAll(() => house.close());

const as = (method: string, path: string, caller = house.people.admin) =>
  house.server.call(method, path, { key: caller.key });
const membersOf = async (room: string) => {
  const found = await successful<{ room: string; members: string[] }>(await as('GET', `/v1/rooms/${room}`));
  expect(Object.keys(found).sort()).toStrictEqual(['members', 'room']);
  expect(found.room).toBe(room);
  return found.members;
};
const inRoom = (room: string) => ({ scope: { kind: 'room', room } });

describe('a room', () => {
  test('is made by an admin and made again without harm', async () => {
    await house.room('made', [ADA]);
    await house.room('made');
    expect(await membersOf('made')).toStrictEqual([ADA]);
  });

  test('takes members in and lets them go, again without harm', async () => {
    await house.room('people', [ADA, BO, ADA]);
    expect([...(await membersOf('people'))].sort()).toStrictEqual([ADA, BO]);
    await house.leave('people', ADA);
    await house.leave('people', ADA);
    expect(await membersOf('people')).toStrictEqual([BO]);
  });

  test('takes a member whose name is not encoded in the path', async () => {
    await house.room('plain');
    expect((await as('PUT', '/v1/rooms/plain/members/user:ada')).status).toBe(204);
    expect(await membersOf('plain')).toStrictEqual([ADA]);
  });

  test('that nobody made is not found', async () => {
    await problem(await as('GET', '/v1/rooms/nowhere'), 404);
    await problem(await as('PUT', '/v1/rooms/nowhere/members/user:ada'), 404);
    await problem(await as('DELETE', '/v1/rooms/nowhere/members/user:ada'), 404);
  });

  test('is changed by nobody but an admin', async () => {
    await house.room('closed');
    const { asker, ada, auditor } = house.people;
    for (const caller of [asker, ada, auditor]) {
      await problem(await as('PUT', '/v1/rooms/other', caller), 403);
      await problem(await as('PUT', '/v1/rooms/closed/members/user:ada', caller), 403);
      await problem(await as('DELETE', '/v1/rooms/closed/members/user:ada', caller), 403);
    }
    await problem(await house.server.call('PUT', '/v1/rooms/other'), 401);
    expect(await membersOf('closed')).toStrictEqual([]);
  });

  test.each(['a%20b', '%00', '%07', 'x'.repeat(201)])('has no member %p', async (subject) => {
    await house.room('strict');
    await problem(await as('PUT', `/v1/rooms/strict/members/${subject}`), 422);
    expect(await membersOf('strict')).toStrictEqual([]);
  });
});

describe('a question for a room', () => {
  test('is answered by a member, and the log says since when it was one', async () => {
    await house.room('ops', [ADA]);
    const asked = await house.ask(inRoom('ops'));
    expect(asked.scope).toStrictEqual({ kind: 'room', room: 'ops' });
    const { applied, question } = await house.answer(asked.id);
    expect([applied, question.outcome?.by]).toStrictEqual([true, ADA]);
    const events = await house.get(`/v1/questions/${asked.id}/events`, house.people.asker);
    const { data } = await successful<{ data: { data: Record<string, unknown> }[] }>(events);
    expect(data[1]?.data.eligibility).toStrictEqual({ kind: 'room', room: 'ops', since: expect.any(String) });
  });

  test('is answered by the first of its members', async () => {
    await house.room('race', [ADA, BO]);
    const { id } = await house.ask(inRoom('race'));
    const { ada, bo } = house.people;
    const attempts = await Promise.all(
      [ada, bo, ada, bo].map((caller) => house.answer(id, { option: 'no' }, caller)),
    );
    expect(attempts.filter(({ applied }) => applied).length).toBe(1);
    expect(new Set(attempts.map(({ question }) => JSON.stringify(question))).size).toBe(1);
  });

  test('may be asked while the room is empty and answered by who joins later', async () => {
    await house.room('later');
    const { id } = await house.ask(inRoom('later'));
    await problem(await house.get(`/v1/questions/${id}`, house.people.ada), 404);
    await house.join('later', ADA);
    expect((await house.answer(id)).applied).toBe(true);
  });

  test('is neither seen nor answered by who has left', async () => {
    await house.room('left', [ADA]);
    const { id } = await house.ask(inRoom('left'));
    expect((await house.fetch(id, house.people.ada)).id).toBe(id);
    await house.leave('left', ADA);
    await problem(await house.get(`/v1/questions/${id}`, house.people.ada), 404);
    await problem(await house.post(`/v1/questions/${id}/answer`, house.people.ada, { option: 'yes' }), 404);
    expect((await house.fetch(id)).state).toBe('pending');
  });

  test('is not told to who left while waiting for it', async () => {
    await house.room('waiting', [ADA, BO]);
    const { id } = await house.ask(inRoom('waiting'));
    const path = `/v1/questions/${id}/wait?timeout=60`;
    const waiting = house.get(path, house.people.ada);
    // A wait that has returned shows that the one before it has been received.
    await house.get(path.replace('60', '0'), house.people.ada);
    await house.leave('waiting', ADA);
    await house.answer(id, { option: 'no' }, house.people.bo);
    await problem(await waiting, 404);
  });

  test('is not for members of another room', async () => {
    await house.room('mine', [ADA]);
    await house.room('theirs', [BO]);
    const { id } = await house.ask(inRoom('mine'));
    await problem(await house.post(`/v1/questions/${id}/answer`, house.people.bo, { option: 'yes' }), 404);
  });

  test('is seen but not answered by its asker who is no member', async () => {
    await house.room('outside', [ADA]);
    const { id } = await house.ask(inRoom('outside'));
    const self = await house.server.key('agent:deployer', ['ask', 'answer']);
    const response = await house.post(`/v1/questions/${id}/answer`, self, { option: 'yes' });
    expect((await problem(response, 403)).code).toBe('not_eligible');
  });

  test('keeps its outcome when the responder leaves', async () => {
    await house.room('after', [ADA]);
    const { id } = await house.ask(inRoom('after'));
    const { question } = await house.answer(id);
    await house.leave('after', ADA);
    expect(await house.fetch(id)).toStrictEqual(question);
  });
});
