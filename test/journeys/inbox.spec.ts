import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { EventStream } from '../support/journeys/event-stream.js';
import { House, type Question } from '../support/journeys/house.js';
import { problem } from '../support/journeys/problems.js';
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

describe('the inbox', () => {
  test('tells what is open first, then what comes', async () => {
    const one = await house.ask({ scope });
    const settled = await house.ask({ scope });
    await house.answer(settled.id, { option: 'yes' }, person);
    const two = await house.ask({ scope });
    const stream = await inbox();
    await stream.first(2);
    const three = await house.ask({ scope });
    await stream.first(3);
    expect(told(stream).slice(0, 2)).toEqual(
      expect.arrayContaining([
        ['ping', one],
        ['ping', two],
      ]),
    );
    expect(told(stream).slice(2)).toStrictEqual([['ping', three]]);
  });

  test('takes a question back whoever settled it, with the envelope', async () => {
    const stream = await inbox();
    const [mine, withdrawn, byAdmin, late] = [
      await house.ask({ scope }),
      await house.ask({ scope }),
      await house.ask({ scope }),
      await house.ask({ scope, expiresIn: 1 }),
    ];
    const answered = (await house.answer(mine.id, { option: 'no' }, person)).question;
    const cancelled = (await house.cancel(withdrawn.id)).question;
    const cancelledByAdmin = (await house.cancel(byAdmin.id, {}, house.people.admin)).question;
    await stream.first(8);
    const expired = await house.fetch(late.id);
    expect(expired.state).toBe('expired');
    const retracts = told(stream).filter(([event]) => event === 'retract');
    expect(retracts).toStrictEqual(
      [answered, cancelled, cancelledByAdmin, expired].map((one) => ['retract', one]),
    );
  });

  test('tells each question at most once each way, also when many settle it at once', async () => {
    const stream = await inbox();
    const { id } = await house.ask({ scope });
    const attempts = Array.from({ length: 10 }, () => house.answer(id, { option: 'yes' }, person));
    await Promise.all([...attempts, house.cancel(id), house.cancel(id)]);
    await caughtUp(stream);
    expect(names(stream).filter((name) => name.endsWith(id))).toStrictEqual([`ping ${id}`, `retract ${id}`]);
  });

  test('is the same on every device of a person', async () => {
    const [phone, desk] = [await inbox(), await inbox()];
    const { id } = await house.ask({ scope });
    await house.answer(id, { option: 'yes' }, person);
    for (const stream of [phone, desk]) {
      await stream.first(2);
      expect(names(stream)).toStrictEqual([`ping ${id}`, `retract ${id}`]);
    }
  });

  test('has nothing of other people', async () => {
    const stream = await inbox();
    const { id } = await house.ask({ scope: { kind: 'direct', user: 'user:somebody' } });
    await house.cancel(id);
    const last = await caughtUp(stream);
    expect(names(stream)).toStrictEqual([`ping ${last.id}`]);
  });

  test('is resumed: what came and what went meanwhile is told', async () => {
    const stream = await inbox();
    const kept = await house.ask({ scope });
    const gone = await house.ask({ scope });
    await stream.first(2);
    await stream.close();
    await house.answer(gone.id, { option: 'yes' }, person);
    const fresh = await house.ask({ scope });
    const resumed = await inbox(stream.lastEventId);
    await resumed.until(
      (all) => all.some(({ event }) => event === 'retract') && all.some(({ data }) => data.id === fresh.id),
    );
    expect(names(resumed)).toEqual(expect.arrayContaining([`retract ${gone.id}`, `ping ${fresh.id}`]));
    await caughtUp(resumed);
    expect(names(resumed).filter((name) => name.endsWith(gone.id))).toStrictEqual([`retract ${gone.id}`]);
    expect(new Set(names(resumed)).size).toBe(names(resumed).length);
    await house.cancel(kept.id);
    await resumed.until((all) => all.some(({ event, data }) => event === 'retract' && data.id === kept.id));
  });

  test('is resumed after a restart of the server', async () => {
    const stream = await inbox();
    const gone = await house.ask({ scope });
    await stream.first(1);
    await house.restart('kill');
    await stream.end();
    await house.answer(gone.id, { option: 'yes' }, person);
    const resumed = await inbox(stream.lastEventId);
    await resumed.first(1);
    expect(names(resumed)).toStrictEqual([`retract ${gone.id}`]);
  });

  test('is for people with the scope answer', async () => {
    await problem(await house.get('/v1/inbox'), 401);
    for (const caller of [house.people.asker, house.people.auditor, house.people.admin])
      await problem(await house.get('/v1/inbox', caller), 403);
  });

  test('refuses a Last-Event-ID that it did not give', async () => {
    await problem(await house.get('/v1/inbox', person, { headers: { 'last-event-id': '%00' } }), 422);
  });

  test('ends when its key is revoked, and no other does', async () => {
    const created = await house.post('/v1/keys', house.people.admin, {
      subject: person.subject,
      scopes: ['answer'],
    });
    const { id, key } = (await created.json()) as { id: string; key: string };
    const [doomed, other] = [await inbox(undefined, { ...person, key }), await inbox()];
    const response = await house.server.call('DELETE', `/v1/keys/${id}`, { key: house.people.admin.key });
    expect(response.status).toBe(204);
    await doomed.end();
    const asked = await caughtUp(other);
    expect([other.ended, names(other), names(doomed)]).toStrictEqual([false, [`ping ${asked.id}`], []]);
  });
});
