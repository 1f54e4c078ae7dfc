import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { raiseBarrier } from '../support/barrier.js';
import { type Instances, roomOf, startInstances } from '../support/races/instances.js';
import { type Participant, refusalOf } from '../support/races/participant.js';

const PEOPLE = 100;

let settled: Instances;
beforeAll(async () => {
  settled = await startInstances();
});
afterEach(() => settled.assertOneStory());
afterAll(() => settled.stop());

const instanceOf = (index: number) => (index % 2 === 0 ? settled.first : settled.second);

function leave(admin: Participant, room: string, { subject }: Participant): Promise<Response> {
  return admin.send('DELETE', `/v1/rooms/${room}/members/${subject}`);
}

describe('a question to a room', () => {
  test('of 100 people who answer it at once is answered by one, and all are told that answer', async () => {
    const people = await roomOf(settled.admin, 'crowd', PEOPLE);
    const { id } = await settled.agent.ask({ scope: { kind: 'room', room: 'crowd' } });
    const waits = [settled.first, settled.second].map((instance) => settled.agent.at(instance).wait(id));
    const barrier = await raiseBarrier(settled.database.connection);
    const attempts = people.map((person, index) =>
      person.at(instanceOf(index)).answer(id, index % 3 === 0 ? 'no' : 'yes'),
    );
    // Both instances hold an answer back by now.
    await barrier.waiting(2);
    await barrier.release();

    const told = await Promise.all(attempts);
    const winners = told.flatMap(({ applied }, index) => (applied ? [people[index]?.subject] : []));
    const outcome = await settled.agent.fetch(id);
    expect(winners).toEqual([outcome.outcome?.kind === 'answered' ? outcome.outcome.by : 'nobody']);
    for (const { question } of told) expect(question).toEqual(outcome);
    expect(await Promise.all(waits)).toEqual([outcome, outcome]);
  });

  test('is not answered by who was taken out of the room on the other instance', async () => {
    const [gone, present] = (await roomOf(settled.admin, 'small', 2)) as [Participant, Participant];
    const asked = await settled.agent.ask({ scope: { kind: 'room', room: 'small' } });
    const there = gone.at(settled.second);
    expect(await there.fetch(asked.id)).toEqual(asked);
    expect((await leave(settled.admin, 'small', gone)).status).toBe(204);
    expect(await refusalOf(there.answer(asked.id))).toEqual({ status: 404, code: 'not_found' });
    expect(await refusalOf(there.fetch(asked.id))).toEqual({ status: 404, code: 'not_found' });
    expect((await present.at(settled.second).answer(asked.id)).applied).toBe(true);
  });

  test('is not answered by who was out of the room before the answer was committed', async () => {
    const [gone] = (await roomOf(settled.admin, 'revolving', 1)) as [Participant];
    const asked = await settled.agent.ask({ scope: { kind: 'room', room: 'revolving' } });
    const barrier = await raiseBarrier(settled.database.connection);
    const answer = refusalOf(gone.at(settled.second).answer(asked.id));
    await barrier.waiting(1);
    // Of the answer nothing is there yet, and its author is a stranger from here on.
    expect((await leave(settled.admin, 'revolving', gone)).status).toBe(204);
    await barrier.release();
    expect(await answer).toEqual({ status: 404, code: 'not_found' });
    expect(await settled.agent.fetch(asked.id)).toEqual(asked);
  });

  test('is answered by who joined on the other instance a moment ago', async () => {
    await settled.admin.send('PUT', '/v1/rooms/open');
    const { id } = await settled.agent.ask({ scope: { kind: 'room', room: 'open' } });
    const bo = (await settled.admin.newcomer('user:bo', ['answer'])).at(settled.second);
    expect(await refusalOf(bo.answer(id))).toEqual({ status: 404, code: 'not_found' });
    await settled.admin.send('PUT', '/v1/rooms/open/members/user:bo');
    expect((await bo.answer(id)).applied).toBe(true);
  });
});
