import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { EventStream } from '../support/journeys/event-stream.js';
import { ADA, House, type Page, type Question, successful } from '../support/journeys/house.js';
import { problem } from '../support/journeys/problems.js';
import { type Caller, SettledProcess } from '../support/settled-process.js';

const ROUNDS = 20;

let house: House;
let other: SettledProcess;
beforeAll(async () => {
  house = await House.open();
  other = await SettledProcess.start({ DATABASE_URL: house.database.url }, house.server.adminKey);
});
afterAll(async () => {
  await other.stop();
  await house.close();
});

const elsewhere = (path: string, { key }: Caller, headers = {}) => other.call('GET', path, { key, headers });

describe('of two instances on one database', () => {
  test('the other shows an answer as soon as it is acknowledged', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { id } = await house.ask();
      // It has seen the question pending, and may remember it.
      const before = await elsewhere(`/v1/questions/${id}`, house.people.asker);
      expect((await successful<Question>(before)).state).toBe('pending');
      const { question } = await house.answer(id);
      const after = elsewhere(`/v1/questions/${id}`, house.people.asker, { 'if-none-match': '"1"' });
      const waited = elsewhere(`/v1/questions/${id}/wait?timeout=0`, house.people.asker);
      const listed = elsewhere('/v1/questions?limit=1', house.people.asker);
      expect(await successful(await after)).toStrictEqual(question);
      expect(await successful(await waited)).toStrictEqual(question);
      expect((await successful<Page>(await listed)).data).toStrictEqual([question]);
    }
  });

  test('the other tells a late attempt what was acknowledged', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { id } = await house.ask();
      await elsewhere(`/v1/questions/${id}`, house.people.ada);
      const { question } = await house.cancel(id);
      const body = { option: 'yes' };
      const late = await other.call('POST', `/v1/questions/${id}/answer`, {
        key: house.people.ada.key,
        body,
      });
      expect(await successful(late)).toStrictEqual({ applied: false, question });
    }
  });

  test('the other refuses a key as soon as it is revoked', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const made = await house.post('/v1/keys', house.people.admin, {
        subject: 'agent:brief',
        scopes: ['ask'],
      });
      const { id, key } = await successful<{ id: string; key: string }>(made, 201);
      expect((await other.call('GET', '/v1/questions?limit=1', { key })).status).toBe(200);
      await house.server.call('DELETE', `/v1/keys/${id}`, { key: house.people.admin.key });
      await problem(await other.call('GET', '/v1/questions?limit=1', { key }), 401);
    }
  });

  test('the other shows nothing to who has left a room', async () => {
    await house.room('ops');
    const { id } = await house.ask({ scope: { kind: 'room', room: 'ops' } });
    for (let round = 0; round < ROUNDS; round += 1) {
      await house.join('ops', ADA);
      expect((await elsewhere(`/v1/questions/${id}`, house.people.ada)).status).toBe(200);
      await house.leave('ops', ADA);
      await problem(await elsewhere(`/v1/questions/${id}`, house.people.ada), 404);
      const body = { option: 'yes' };
      const answer = other.call('POST', `/v1/questions/${id}/answer`, { key: house.people.ada.key, body });
      await problem(await answer, 404);
    }
  });

  test('waits and inboxes of the other hear of what happens here', async () => {
    const inbox = await EventStream.open<Question>(
      {
        get: (path, caller, options) =>
          other.call('GET', path, { ...(caller && { key: caller.key }), ...options }),
      },
      '/v1/inbox',
      house.people.bo,
    );
    const { id } = await house.ask({ scope: { kind: 'direct', user: 'user:bo' } });
    const waiting = elsewhere(`/v1/questions/${id}/wait?timeout=60`, house.people.asker);
    await inbox.first(1);
    const { question } = await house.answer(id, { option: 'no' }, house.people.bo);
    expect(await successful(await waiting)).toStrictEqual(question);
    const told = await inbox.first(2);
    expect(told.map(({ event, data }) => [event, data.id])).toStrictEqual([
      ['ping', id],
      ['retract', id],
    ]);
    expect(told[1]?.data).toStrictEqual(question);
    await inbox.close();
  });

  test('streams of the other end when the key is revoked here', async () => {
    const made = await house.post('/v1/keys', house.people.admin, {
      subject: 'user:brief',
      scopes: ['answer'],
    });
    const { id, key } = await successful<{ id: string; key: string }>(made, 201);
    const inbox = await EventStream.open<Question>(
      { get: (path, _, options) => other.call('GET', path, { key, ...options }) },
      '/v1/inbox',
      house.people.bo,
    );
    await house.server.call('DELETE', `/v1/keys/${id}`, { key: house.people.admin.key });
    await inbox.end();
  });

  test('both take each other’s cursors and Idempotency-Keys', async () => {
    const { nextCursor } = await house.list('limit=2', house.people.auditor);
    const query = `limit=2&cursor=${encodeURIComponent(nextCursor ?? '')}`;
    const here = await house.list(query, house.people.auditor);
    expect(await successful(await elsewhere(`/v1/questions?${query}`, house.people.auditor))).toStrictEqual(
      here,
    );
    const { id } = await house.ask();
    const request = {
      body: { option: 'yes' },
      headers: { 'idempotency-key': 'both' },
      key: house.people.ada.key,
    };
    const first = await successful(await house.server.call('POST', `/v1/questions/${id}/answer`, request));
    expect(first).toMatchObject({ applied: true });
    const again = await other.call('POST', `/v1/questions/${id}/answer`, request);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await successful(again)).toStrictEqual(first);
  });
});
