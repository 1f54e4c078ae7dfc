import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { EventStream } from '../support/journeys/event-stream.js';
import { House, type Question } from '../support/journeys/house.js';
import type { Caller } from '../support/settled-process.js';

let house: House;
beforeAll(async () => {
  house = await House.open();
});
afterAll(() => house.close());

let count = 0;
let person: Caller;
let scope: Record<string, string>;
let streams: EventStream<Question>[];
beforeEach(async () => {
  count += 1;
  person = await house.server.key(`user:p${count}`, ['answer']);
  scope = { kind: 'direct', user: person.subject };
  streams = [];
});
afterEach(async () => {
  await Promise.all(streams.map((stream) => stream.close()));
});

async function inbox(lastEventId?: string, caller = person): Promise<EventStream<Question>> {
  const headers: Record<string, string> = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
  const stream = await EventStream.open<Question>(house, '/v1/inbox', caller, headers);
  streams.push(stream);
  return stream;
}
const told = ({ messages }: EventStream<Question>) => messages.map(({ event, data }) => [event, data]);
const names = ({ messages }: EventStream<Question>) =>
  messages.map(({ event, data }) => `${event} ${data.id}`);

/** Waits until the inbox has told of one more question, and so of all that was before it. */
async function caughtUp(stream: EventStream<Question>): Promise<Question> {
  const last = await house.ask({ scope });
  await stream.until((messages) => messages.some(({ data }) => data.id === last.id));
  return last;
}

describe('the inbox of a member of a room', () => {
  let room: Record<string, string>;
  beforeEach(async () => {
    room = { kind: 'room', room: `room-${count}` };
    await house.room(`room-${count}`);
  });

  test('is told what is open when the person joins, and loses it when it leaves', async () => {
    const open = await house.ask({ scope: room });
    const closed = await house.ask({ scope: room });
    await house.cancel(closed.id);
    const stream = await inbox();
    await house.join(`room-${count}`, person.subject);
    await stream.first(1);
    expect(told(stream)).toStrictEqual([['ping', open]]);
    await house.leave(`room-${count}`, person.subject);
    await stream.first(2);
    expect(names(stream)).toStrictEqual([`ping ${open.id}`, `retract ${open.id}`]);
    await house.cancel(open.id);
    const last = await caughtUp(stream);
    expect(names(stream).slice(2)).toStrictEqual([`ping ${last.id}`]);
  });

  test('takes back what another member settled', async () => {
    for (const member of [person.subject, 'user:bo']) await house.join(`room-${count}`, member);
    const stream = await inbox();
    const { id } = await house.ask({ scope: room });
    const { question } = await house.answer(id, { option: 'yes' }, house.people.bo);
    await stream.first(2);
    expect(told(stream)[1]).toStrictEqual(['retract', question]);
  });

  test('pings a question at most once on one connection, also for who leaves and joins again', async () => {
    await house.join(`room-${count}`, person.subject);
    const stream = await inbox();
    const { id } = await house.ask({ scope: room });
    await stream.first(1);
    await house.leave(`room-${count}`, person.subject);
    await stream.first(2);
    await house.join(`room-${count}`, person.subject);
    await house.answer(id, { option: 'yes' }, person);
    await caughtUp(stream);
    expect(names(stream).filter((name) => name.endsWith(id))).toStrictEqual([`ping ${id}`, `retract ${id}`]);
  });
});
