import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.js';
import { append, openLog, type TestLog } from '../../test/support/log.js';
import { answer, ask, RESPONDER, TENANT } from '../../test/support/log-entries.js';
import { readOverdue } from './overdue.js';

let database: TestDatabase;
let open: TestLog;

beforeAll(async () => {
  database = await createTestDatabase();
  open = await openLog(database.connection);
});
afterAll(async () => {
  await open.stop();
  await database.drop();
});

function load(id: string, subject = RESPONDER, tenant = TENANT) {
  return open.log.load({ tenant, id, subject });
}

describe('loading a question', () => {
  test('returns what was written last, and the clock of the database', async () => {
    const id = randomUUID();
    const asked = await append(open.log, ask(id, { view: { defaultOption: 'no' } }));
    const pending = { version: 1, defaultOption: 'no', envelope: asked.envelope, memberSince: null };
    expect((await load(id)).question).toEqual(pending);
    const answered = await append(open.log, answer(id));
    const { question, now } = await load(id);
    expect(question).toMatchObject({ version: 2, envelope: answered.envelope });
    expect(now >= answered.at).toBe(true);
    expect(Math.abs(Date.parse(now) - Date.now())).toBeLessThan(10_000);
  });

  test('of an unknown id, or of another tenant, returns the clock alone', async () => {
    const id = randomUUID();
    await append(open.log, ask(id));
    for (const loaded of [await load(randomUUID()), await load(id, RESPONDER, 'umbrella')]) {
      expect(loaded).toEqual({ question: null, now: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/) });
    }
  });

  test('says since when the subject has been in the room of the question', async () => {
    const id = randomUUID();
    const since = '2026-01-02T03:04:05.678Z';
    await open.pool.query('INSERT INTO rooms (tenant, room) VALUES ($1, $2), ($1, $3)', [
      TENANT,
      'deploys',
      'other',
    ]);
    await open.pool.query(
      'INSERT INTO room_members (tenant, room, subject, since) VALUES ($1, $2, $4, $5), ($1, $3, $6, $5)',
      [TENANT, 'deploys', 'other', RESPONDER, since, 'user:bob'],
    );
    await append(open.log, ask(id, { view: { addressee: 'room:deploys' } }));
    expect((await load(id)).question?.memberSince).toBe(since);
    expect((await load(id, 'user:bob')).question?.memberSince).toBeNull();
  });

  test('takes one statement for all who wait, each with an answer of its own', async () => {
    const ids = Array.from({ length: 20 }, () => randomUUID());
    await Promise.all(ids.map((id) => append(open.log, ask(id, { view: { defaultOption: id } }))));
    const wanted = [...ids, randomUUID(), ...ids];
    const query = jest.spyOn(open.pool, 'query');
    const loaded = await Promise.all(wanted.map((id) => load(id)));
    const statements = query.mock.calls.filter(([config]) => Object(config).name === 'load_questions');
    query.mockRestore();
    expect(statements).toHaveLength(1);
    expect(loaded.map(({ question }) => question?.defaultOption)).toEqual([...ids, undefined, ...ids]);
  });

  test('with a key that the database cannot take fails alone', async () => {
    const id = randomUUID();
    await append(open.log, ask(id));
    const settled = await Promise.allSettled([load(id), load('not-a-uuid'), load(id, '\0'), load(id)]);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
  });
});

describe('the overdue questions', () => {
  test('are the open ones whose deadline has passed, most overdue first, with the time to the next', async () => {
    const fresh = await createTestDatabase();
    const other = await openLog(fresh.connection);
    expect(await readOverdue(other.pool, 9)).toMatchObject({ questions: [], nextInMs: null });
    const until = (expiresAt: string) => ask(randomUUID(), { guard: {}, view: { expiresAt } });
    const later = await append(other.log, until('2020-01-02T00:00:00.000Z'));
    const first = await append(other.log, until('2020-01-01T00:00:00.000Z'));
    const { now } = await readOverdue(other.pool, 9);
    await append(other.log, until(new Date(Date.parse(now) + 60_000).toISOString()));
    const page = await readOverdue(other.pool, 9);
    expect(page.questions.map(({ envelope }) => envelope)).toEqual([first.envelope, later.envelope]);
    expect(page.nextInMs).toBeLessThan(0);
    expect((await readOverdue(other.pool, 1)).questions).toHaveLength(1);

    for (const { stream } of [first, later])
      await append(other.log, answer(stream.slice('question:'.length)));
    const settled = await readOverdue(other.pool, 9);
    expect(settled.questions).toEqual([]);
    expect(settled.nextInMs).toBeGreaterThan(0);
    expect(settled.nextInMs).toBeLessThanOrEqual(60_000);
    await other.stop();
    await fresh.drop();
  });
});
