import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.js';
import { append, openLog, type TestLog, tally } from '../../test/support/log.js';
import { answer, ask, note, RESPONDER, TENANT } from '../../test/support/log-entries.js';

const FAR_PAST = '2000-01-01T00:00:00.000Z';
const FAR_FUTURE = '2100-01-01T00:00:00.000Z';
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

let database: TestDatabase;
let here: TestLog;
let there: TestLog;

beforeAll(async () => {
  database = await createTestDatabase();
  here = await openLog(database.connection);
  there = await openLog(database.connection);
});
afterAll(async () => {
  await Promise.all([here.stop(), there.stop()]);
  await database.drop();
});

describe('the verdict on an append', () => {
  test('is "appended" at the version after the last, and the view shows it', async () => {
    const id = randomUUID();
    const asked = await append(here.log, ask(id));
    expect(asked).toMatchObject({
      tenant: TENANT,
      stream: `question:${id}`,
      version: 1,
      type: 'question.asked',
    });
    expect(asked.at).toMatch(INSTANT);
    await append(here.log, answer(id));
    const { rows } = await here.pool.query('SELECT version, state FROM questions WHERE id = $1', [id]);
    expect(rows).toEqual([{ version: 2, state: 'answered' }]);
  });

  test('is "conflict" at a version that is taken, or that leaves one out', async () => {
    const id = randomUUID();
    await append(here.log, ask(id));
    expect(await here.log.append(ask(id))).toMatchObject({
      verdict: 'conflict',
      now: expect.stringMatching(INSTANT),
    });
    expect(await here.log.append(answer(id, { version: 3 }))).toMatchObject({ verdict: 'conflict' });
    expect(await here.log.append(answer(randomUUID()))).toMatchObject({ verdict: 'conflict' });
  });

  test('is "too_early" and "too_late" by the clock of the database', async () => {
    const id = randomUUID();
    await append(here.log, ask(id));
    const early = answer(id, { guard: { notBefore: FAR_FUTURE } });
    const late = answer(id, { guard: { notAfter: FAR_PAST } });
    const inTime = answer(id, { guard: { notBefore: FAR_PAST, notAfter: FAR_FUTURE } });
    expect(await here.log.append(early)).toMatchObject({ verdict: 'too_early' });
    expect(await here.log.append(late)).toMatchObject({ verdict: 'too_late' });
    expect(await here.log.append(inTime)).toMatchObject({ verdict: 'appended' });
  });

  test('is "not_member" for who is not in the room, and for who left it', async () => {
    const into = (room: string) => note(randomUUID(), 1, { actor: RESPONDER, guard: { memberOf: room } });
    await here.pool.query('INSERT INTO rooms (tenant, room) VALUES ($1, $2)', [TENANT, 'deploys']);
    expect(await here.log.append(into('deploys'))).toMatchObject({ verdict: 'not_member' });
    const member = [TENANT, 'deploys', RESPONDER];
    await here.pool.query('INSERT INTO room_members (tenant, room, subject) VALUES ($1, $2, $3)', member);
    expect(await here.log.append(into('deploys'))).toMatchObject({ verdict: 'appended' });
    expect(await here.log.append(into('elsewhere'))).toMatchObject({ verdict: 'not_member' });
    await here.pool.query(
      'DELETE FROM room_members WHERE tenant = $1 AND room = $2 AND subject = $3',
      member,
    );
    expect(await here.log.append(into('deploys'))).toMatchObject({ verdict: 'not_member' });
  });

  test('leaves nothing behind when it is a refusal', async () => {
    const id = randomUUID();
    await here.log.append(ask(id, { guard: { notBefore: FAR_FUTURE } }));
    const { rows } = await here.pool.query(
      `SELECT (SELECT count(*) FROM questions WHERE id = $1) + (SELECT count(*) FROM open_questions WHERE id = $1)
        + (SELECT count(*) FROM events WHERE stream = 'question:' || $1) AS traces`,
      [id],
    );
    expect(rows).toEqual([{ traces: '0' }]);
  });
});

describe('a question in the list of open ones', () => {
  test('is there while it is pending, with the deadline counted from its commit', async () => {
    const id = randomUUID();
    const asked = await append(here.log, ask(id, { guard: { lifetimeMs: 90_000 } }));
    const open = () => here.pool.query('SELECT expires_at FROM open_questions WHERE id = $1', [id]);
    expect((await open()).rows).toEqual([{ expires_at: new Date(Date.parse(asked.at) + 90_000) }]);
    await append(here.log, answer(id));
    expect((await open()).rows).toEqual([]);
  });
});

describe('of many appends at one version of a stream', () => {
  test('exactly one wins in one batch', async () => {
    const id = randomUUID();
    await append(here.log, ask(id));
    const query = jest.spyOn(here.pool, 'query');
    const results = await Promise.all(Array.from({ length: 50 }, () => here.log.append(answer(id))));
    expect(query.mock.calls.filter(([config]) => Object(config).name === 'append_events')).toHaveLength(1);
    query.mockRestore();
    expect(tally(results)).toEqual({ appended: 1, conflict: 49 });
    expect(results[0]?.verdict).toBe('appended');
  });

  test('exactly one wins across processes', async () => {
    const ids = Array.from({ length: 40 }, () => randomUUID());
    await Promise.all(ids.map((id) => append(here.log, ask(id))));
    const races = ids.flatMap((id) => [here, there, here, there].map(({ log }) => log.append(answer(id))));
    expect(tally(await Promise.all(races))).toEqual({ appended: 40, conflict: 120 });
    const { rows } = await here.pool.query(
      'SELECT count(*)::int FROM questions WHERE version = 2 AND id = ANY($1)',
      [ids],
    );
    expect(rows).toEqual([{ count: 40 }]);
  });
});
