import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { EventStream } from '../support/journeys/event-stream.js';
import { House, successful } from '../support/journeys/house.js';
import { badFields, problem } from '../support/journeys/problems.js';

interface Key {
  readonly id: string;
  readonly key: string;
  readonly subject: string;
  readonly scopes: readonly string[];
  readonly tenant: string;
}

let house: House;
beforeAll(async () => {
  house = await House.open();
});
afterAll(() => house.close());

const make = async (body: object, caller = house.people.admin) =>
  await successful<Key>(await house.post('/v1/keys', caller, body), 201);
const revoke = (id: string, caller = house.people.admin) =>
  house.server.call('DELETE', `/v1/keys/${id}`, { key: caller.key });
const bearer = ({ subject, key }: Key) => ({ subject, key });

/** The tables in whose rows a text is found, as it is or as bytes. */
async function tablesWith(text: string): Promise<string[]> {
  const client = new pg.Client(house.database.connection);
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>(
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
       WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
    );
    const needles = [
      text,
      Buffer.from(text).toString('hex'),
      Buffer.from(text).toString('base64').replace(/=+$/, ''),
    ];
    const found: string[] = [];
    for (const { name } of rows) {
      const sql = `SELECT 1 FROM ${name} t WHERE EXISTS (SELECT FROM unnest($1::text[]) n WHERE position(n IN t::text) > 0)`;
      if ((await client.query(sql, [needles])).rowCount !== 0) found.push(name);
    }
    return found;
  } finally {
    await client.end();
  }
}

describe('keys', () => {
  test('are made by an admin and shown then', async () => {
    const made = await make({ subject: 'agent:new', scopes: ['ask', 'audit'] });
    expect(made).toStrictEqual({
      id: expect.stringMatching(/\S/),
      key: expect.stringMatching(/^\S{24,}$/),
      subject: 'agent:new',
      scopes: ['ask', 'audit'],
      tenant: 'default',
    });
    expect((await house.ask({}, bearer(made))).asker).toBe('agent:new');
  });

  test('are listed without their secrets', async () => {
    const made = await make({ subject: 'agent:listed', scopes: ['ask'] });
    const text = await (await house.get('/v1/keys', house.people.admin)).text();
    const { data } = JSON.parse(text) as { data: Key[] };
    const { key, ...shown } = made;
    expect(data).toContainEqual(expect.objectContaining(shown));
    expect(data.every((one) => !('key' in one))).toBe(true);
    for (const secret of [key, house.people.asker.key, house.server.adminKey])
      expect(text).not.toContain(secret);
  });

  test('are stored hashed', async () => {
    const made = await make({ subject: 'agent:hashed', scopes: ['ask'] });
    expect(await tablesWith(made.subject)).not.toStrictEqual([]);
    expect(await tablesWith(made.key)).toStrictEqual([]);
    expect(await tablesWith(house.server.adminKey)).toStrictEqual([]);
  });

  test('of one subject are several and end one by one', async () => {
    const [one, two] = [
      await make({ subject: 'agent:twice', scopes: ['ask'] }),
      await make({ subject: 'agent:twice', scopes: ['ask'] }),
    ];
    expect(one.key).not.toBe(two.key);
    const { id } = await house.ask({}, bearer(one));
    expect((await revoke(one.id)).status).toBe(204);
    await problem(await house.get(`/v1/questions/${id}`, bearer(one)), 401);
    expect((await house.fetch(id, bearer(two))).asker).toBe('agent:twice');
  });

  test('end at once on every surface', async () => {
    const made = await make({ subject: 'user:all', scopes: ['ask', 'answer', 'audit', 'webhooks', 'admin'] });
    const { id } = await house.ask({ scope: { kind: 'direct', user: 'user:all' } }, bearer(made));
    const streams = [
      await EventStream.open(house, '/v1/inbox', bearer(made)),
      await EventStream.open(house, '/v1/events', bearer(made)),
    ];
    expect((await revoke(made.id)).status).toBe(204);
    const surfaces: [string, string, unknown?][] = [
      ['GET', `/v1/questions/${id}`],
      ['GET', '/v1/questions'],
      ['GET', `/v1/questions/${id}/wait?timeout=0`],
      ['GET', `/v1/questions/wait?ids=${id}&timeout=0`],
      ['GET', `/v1/questions/${id}/events`],
      ['GET', '/v1/events'],
      ['GET', '/v1/inbox'],
      ['GET', '/v1/keys'],
      ['GET', '/v1/rooms/ops'],
      ['PUT', '/v1/rooms/ops'],
      ['DELETE', `/v1/keys/${made.id}`],
      ['POST', '/v1/questions', {}],
      ['POST', `/v1/questions/${id}/answer`, { option: 'yes' }],
      ['POST', `/v1/questions/${id}/cancel`, {}],
      ['POST', '/v1/keys', { subject: 'agent:x', scopes: ['ask'] }],
    ];
    for (const [method, path, body] of surfaces)
      await problem(await house.server.call(method, path, { key: made.key, body }), 401);
    for (const stream of streams) await stream.end();
    expect((await house.fetch(id, house.people.auditor)).state).toBe('pending');
  });

  test('end at once for a wait that is open', async () => {
    const made = await make({ subject: 'user:ada', scopes: ['answer'] });
    const { id } = await house.ask();
    const path = `/v1/questions/${id}/wait?timeout=60`;
    const waiting = house.get(path, bearer(made));
    // A wait that has returned shows that the one before it has been received.
    await house.get(path.replace('60', '0'), bearer(made));
    await revoke(made.id);
    await house.answer(id);
    await problem(await waiting, 401);
  });

  test('that there are not are not found', async () => {
    for (const id of ['nope', '0193aaaa-aaaa-7aaa-8aaa-aaaaaaaaaaaa', '%00'])
      await problem(await revoke(id), 404);
    const made = await make({ subject: 'agent:gone', scopes: ['ask'] });
    expect((await revoke(made.id)).status).toBe(204);
    expect([204, 404]).toContain((await revoke(made.id)).status);
  });

  test('are the business of admins', async () => {
    const made = await make({ subject: 'agent:safe', scopes: ['ask'] });
    for (const caller of [house.people.asker, house.people.ada, house.people.auditor]) {
      await problem(await house.post('/v1/keys', caller, { subject: 'x', scopes: ['admin'] }), 403);
      await problem(await house.get('/v1/keys', caller), 403);
      await problem(await revoke(made.id, caller), 403);
    }
    await problem(await house.get('/v1/keys'), 401);
    expect((await house.ask({}, bearer(made))).asker).toBe('agent:safe');
  });

  test.each<[string, object, string]>([
    ['no subject', { scopes: ['ask'] }, 'subject'],
    ['an empty subject', { subject: '', scopes: ['ask'] }, 'subject'],
    ['a subject that is too long', { subject: 'x'.repeat(201), scopes: ['ask'] }, 'subject'],
    ['a subject with a space', { subject: 'user: ada', scopes: ['ask'] }, 'subject'],
    ['a subject with a control character', { subject: 'user:\u007f', scopes: ['ask'] }, 'subject'],
    ['a subject with U+0000', { subject: 'user:\u0000', scopes: ['ask'] }, 'subject'],
    ['a subject with a lone surrogate', { subject: '\ud800', scopes: ['ask'] }, 'subject'],
    ['no scopes', { subject: 'user:x' }, 'scopes'],
    ['an unknown scope', { subject: 'user:x', scopes: ['root'] }, 'scopes'],
    ['scopes in one text', { subject: 'user:x', scopes: 'ask answer' }, 'scopes'],
    ['an empty tenant', { subject: 'user:x', scopes: ['ask'], tenant: '' }, 'tenant'],
    ['a tenant that is a number', { subject: 'user:x', scopes: ['ask'], tenant: 1 }, 'tenant'],
    ['a key of its own', { subject: 'user:x', scopes: ['ask'], key: 'x'.repeat(30) }, 'key'],
  ])('are refused with %s', async (_, body, field) => {
    const [first] = await badFields(await house.post('/v1/keys', house.people.admin, body));
    expect(first?.split('.')[0]).toBe(field);
  });

  test('take the longest subject', async () => {
    expect((await make({ subject: 'x'.repeat(200), scopes: ['ask'] })).subject.length).toBe(200);
  });
});
