import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { EventStream } from '../support/journeys/event-stream.js';
import { ADA, House, type Question, questionBody, successful } from '../support/journeys/house.js';
import { badFields, problem } from '../support/journeys/problems.js';
import type { Caller } from '../support/settled-process.js';

let house: House;
let acme: Record<'asker' | 'ada' | 'auditor' | 'admin', Caller>;
let here: Question;
let there: Question;
beforeAll(async () => {
  house = await House.open();
  acme = {
    asker: await house.server.key('agent:deployer', ['ask'], 'acme'),
    ada: await house.server.key(ADA, ['answer'], 'acme'),
    auditor: await house.server.key('user:auditor', ['audit'], 'acme'),
    admin: await house.server.key('user:root', ['admin'], 'acme'),
  };
  here = await house.ask();
  there = await house.ask({}, acme.asker);
});
afterAll(() => house.close());

describe('of another tenant', () => {
  test('a question is not found, on any route, by anybody of the same name', async () => {
    for (const caller of [acme.asker, acme.ada, acme.auditor, acme.admin])
      for (const suffix of ['', '?version=1', '/wait?timeout=0'])
        await problem(await house.get(`/v1/questions/${here.id}${suffix}`, caller), 404);
    for (const caller of [acme.asker, acme.auditor, acme.admin])
      await problem(await house.get(`/v1/questions/${here.id}/events`, caller), 404);
    await problem(await house.post(`/v1/questions/${here.id}/answer`, acme.ada, { option: 'yes' }), 404);
    await problem(await house.post(`/v1/questions/${here.id}/cancel`, acme.asker, {}), 404);
    await problem(await house.post(`/v1/questions/${here.id}/cancel`, acme.admin, {}), 404);
    await problem(
      await house.get(`/v1/questions/wait?ids=${there.id},${here.id}&timeout=0`, acme.auditor),
      404,
    );
    expect(await house.fetch(here.id)).toStrictEqual(here);
  });

  test('nothing is listed', async () => {
    for (const caller of [acme.asker, acme.ada, acme.auditor, acme.admin])
      expect((await house.list('', caller)).data).toStrictEqual([there]);
    expect((await house.list('', house.people.admin)).data).toStrictEqual([here]);
    expect(there.tenant).toBe('acme');
  });

  test('a cursor leads to nothing', async () => {
    await house.ask();
    const { nextCursor } = await house.list('limit=1', house.people.auditor);
    const response = await house.get(
      `/v1/questions?cursor=${encodeURIComponent(nextCursor ?? '')}`,
      acme.auditor,
    );
    if (response.status === 422) expect(await badFields(response)).toStrictEqual(['cursor']);
    else
      expect(
        (await successful<{ data: Question[] }>(response)).data.every(({ tenant }) => tenant === 'acme'),
      ).toBe(true);
  });

  test('no event is told, in any form', async () => {
    for (const [caller, tenant] of [
      [acme.auditor, 'acme'],
      [house.people.auditor, 'default'],
    ] as const) {
      const mine = (await house.list('', tenant === 'acme' ? acme.admin : house.people.admin)).data.map(
        ({ id }) => id,
      );
      const response = await house.get('/v1/events', caller);
      const { data } = await successful<{ data: { type: string; stream: string }[] }>(response);
      const streams = data.filter(({ type }) => type.startsWith('question.')).map(({ stream }) => stream);
      expect(new Set(streams)).toStrictEqual(new Set(mine.map((id) => `question:${id}`)));
      const lines = await house.get('/v1/events', caller, { headers: { accept: 'application/x-ndjson' } });
      const told = (await lines.text())
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown);
      expect(told).toStrictEqual(data);
    }
  });

  test('no event is streamed', async () => {
    const stream = await EventStream.open<{ stream: string }>(house, '/v1/events?after=0', acme.auditor);
    await house.ask();
    const last = await house.ask({}, acme.asker);
    await stream.until((messages) => messages.some(({ data }) => data.stream === `question:${last.id}`));
    const mine = (await house.list('', acme.admin)).data.map(({ id }) => `question:${id}`);
    const streams = stream.messages
      .map(({ data }) => data.stream)
      .filter((name) => name.startsWith('question:'));
    expect(new Set(streams)).toStrictEqual(new Set(mine));
    await stream.close();
  });

  test('no Ping reaches an inbox of the same name', async () => {
    const stream = await EventStream.open<Question>(house, '/v1/inbox', acme.ada);
    const { id } = await house.ask();
    await house.cancel(id);
    const last = await house.ask({}, acme.asker);
    await stream.until((messages) => messages.some(({ data }) => data.id === last.id));
    expect(stream.messages.every(({ data }) => data.tenant === 'acme')).toBe(true);
    await stream.close();
  });

  test('rooms are not found and have members of their own', async () => {
    await house.room('ops', [ADA]);
    await problem(await house.get('/v1/rooms/ops', acme.admin), 404);
    const scope = { kind: 'room', room: 'ops' };
    expect(
      await badFields(await house.post('/v1/questions', acme.asker, questionBody({ scope }))),
    ).not.toStrictEqual([]);
    const put = await house.server.call('PUT', '/v1/rooms/ops', { key: acme.admin.key });
    expect(put.status).toBe(200);
    const { id } = await house.ask({ scope }, acme.asker);
    await problem(await house.get(`/v1/questions/${id}`, acme.ada), 404);
    await problem(await house.get(`/v1/questions/${id}`, house.people.ada), 404);
  });

  test('keys are neither listed nor revoked nor made', async () => {
    const list = async (caller: Caller) => {
      const response = await house.get('/v1/keys', caller);
      return (await successful<{ data: { id: string; subject: string; tenant: string }[] }>(response)).data;
    };
    expect(new Set((await list(acme.admin)).map(({ tenant }) => tenant))).toStrictEqual(new Set(['acme']));
    const victim = (await list(house.people.admin)).find(({ subject }) => subject === 'agent:deployer');
    const key = acme.admin.key;
    await problem(await house.server.call('DELETE', `/v1/keys/${victim?.id}`, { key }), 404);
    const body = { subject: 'agent:intruder', scopes: ['admin', 'audit'], tenant: 'default' };
    await problem(await house.post('/v1/keys', acme.admin, body), [403, 404, 422]);
    expect((await house.fetch(here.id)).id).toBe(here.id);
  });

  test('an admin makes keys of its own tenant when it names none', async () => {
    const response = await house.post('/v1/keys', acme.admin, { subject: 'agent:mine', scopes: ['ask'] });
    const made = await successful<{ key: string; tenant: string }>(response, 201);
    expect(made.tenant).toBe('acme');
    expect((await house.ask({}, { subject: 'agent:mine', key: made.key })).tenant).toBe('acme');
  });

  test('a conversation of the same name is another', async () => {
    const [one, two] = [
      await house.ask({ conversation: 'chat' }),
      await house.ask({ conversation: 'chat' }, acme.asker),
    ];
    expect((await house.list('conversation=chat', house.people.auditor)).data).toStrictEqual([one]);
    expect((await house.list('conversation=chat', acme.auditor)).data).toStrictEqual([two]);
  });
});
