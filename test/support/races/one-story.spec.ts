import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { QuestionWriter, sweepOverdue } from '#settling';
import { createTestDatabase, type TestDatabase } from '../database.js';
import { openLog, type TestLog } from '../log.js';
import { assertOneStory } from './one-story.js';
import { askShortLived } from './overdue-questions.js';

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

/** One question that has expired, and one that is pending. */
beforeEach(async () => {
  await open.pool.query('TRUNCATE events, questions, open_questions, idempotency_keys');
  await askShortLived(open.log, 1, { lifetimeMs: 1, user: 'user:ada' });
  await askShortLived(open.log, 1, { lifetimeMs: 3_600_000, user: 'user:ada' });
  await sweepOverdue(new QuestionWriter(open.log));
});

const remember = (result: object) => `INSERT INTO idempotency_keys (key, request, result, at)
  VALUES ('k', 'r', '${JSON.stringify(result)}', now())`;

/** What must not go unnoticed, and by what it shows. */
const damages: readonly (readonly [string, string, RegExp])[] = [
  [
    'a position is missing',
    'UPDATE events SET position = 9 WHERE position = 3',
    /position 9 stands in place 3/,
  ],
  ['time runs backwards', `UPDATE events SET at = at - interval '1 hour' WHERE position = 2`, /older than/],
  ['an event was changed', `UPDATE events SET actor = 'user:eve' WHERE position = 1`, /hash 1 is broken/],
  ['a version is missing', 'UPDATE events SET version = 3 WHERE version = 2', /version 3 in place 2/],
  [
    'a question ends twice',
    `INSERT INTO events SELECT 4, gen_random_uuid(), tenant, stream, 3, type, schema, data, at, actor, correlation, hash
      FROM events WHERE version = 2`,
    /was settled 2 times/,
  ],
  [
    'an expiry comes too early',
    `UPDATE events SET data = replace(data, '"expiresAt":"20', '"expiresAt":"21') WHERE position = 1`,
    /expired at .*, before 21/,
  ],
  [
    'an event comes after the deadline',
    `UPDATE events SET data = replace(data, '"expiresAt":"20', '"expiresAt":"19') WHERE position = 2`,
    /has question.asked at .*, not before 19/,
  ],
  [
    'an actor is not who the event says',
    `UPDATE events SET actor = 'x' WHERE position = 3`,
    /which says system/,
  ],
  ['a view is missing', `DELETE FROM questions WHERE state = 'pending'`, /has no view/],
  ['a view has another state', `UPDATE questions SET state = 'answered'`, /has a view with/],
  [
    'a view shows something else',
    `UPDATE questions SET envelope = replace(envelope, 'Deploy?', 'Delete?')`,
    /is not what its view shows/,
  ],
  ['a view has another deadline', `UPDATE questions SET expires_at = now()`, /has a view that expires at/],
  ['a view has no history', 'DELETE FROM events WHERE position = 2', /has a view and no history/],
  ['what is pending is not open', 'DELETE FROM open_questions', /does not count as open/],
  [
    'what is settled is open',
    'INSERT INTO open_questions SELECT tenant, id, expires_at FROM questions ON CONFLICT DO NOTHING',
    /is expired and counts as open/,
  ],
  [
    'a request remembers what is not there',
    remember({ id: 'none', version: 2, applied: true }),
    /remembers question none at 2, which is not there/,
  ],
];

describe('a log that tells one story', () => {
  test('passes', async () => {
    await assertOneStory(database.connection);
  });

  test.each(damages)('does not when %s', async (_, damage, complaint) => {
    await open.pool.query(damage);
    await expect(assertOneStory(database.connection)).rejects.toThrow(complaint);
  });
});
