import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Envelope } from '#contracts';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { DatabaseClockEstimate } from '../support/races/database-clock.js';
import { InboxStream } from '../support/races/inbox-stream.js';
import { assertOneStory } from '../support/races/one-story.js';
import { askShortLived } from '../support/races/overdue-questions.js';
import { readStoredLog } from '../support/races/stored-log.js';
import { type FacadeAlone, startWithoutSweeper } from '../support/races/without-sweeper.js';

const LIFETIME_MS = 100;

let database: TestDatabase;
let facade: FacadeAlone;
beforeAll(async () => {
  database = await createTestDatabase();
  facade = await startWithoutSweeper(database.connection);
});
afterEach(() => assertOneStory(database.connection));
afterAll(async () => {
  await facade.stop();
  await database.drop();
});

const data = async (list: Promise<unknown>) => ((await list) as { data: Envelope[] }).data;
const only = (id: string) => (question: Envelope) => question.id === id;

/** Each is the first to look at an overdue question, and returns how it is shown. */
const looks: Record<string, (id: string) => Promise<Envelope | undefined>> = {
  'is fetched': (id) => facade.agent.fetch(id),
  'is listed': async (id) => (await data(facade.agent.get('/v1/questions'))).find(only(id)),
  'is waited for': (id) => facade.agent.wait(id),
  'is one of several that are waited for': async (id) => {
    return (await data(facade.agent.get(`/v1/questions/wait?ids=${id}`))).find(only(id));
  },
  'is answered': async (id) => (await facade.ada.answer(id)).question,
  'is given an invalid answer': async (id) => (await facade.ada.answer(id, 'perhaps')).question,
  'is cancelled': async (id) => (await facade.agent.cancel(id)).question,
};

describe('while no sweeper runs, an overdue question is expired', () => {
  let id: string;
  beforeEach(async () => {
    const asked = await askShortLived(facade.log, 1, { lifetimeMs: LIFETIME_MS, user: 'user:ada' });
    id = asked[0] as string;
    const clock = await DatabaseClockEstimate.of(database.connection);
    await clock.reaches(clock.nowMs + LIFETIME_MS);
    // Nothing has looked at it.
    expect((await readStoredLog(database.connection)).open.map((open) => open.id)).toEqual([id]);
  });

  test.each(Object.keys(looks))('when it %s', async (look) => {
    const shown = await looks[look]?.(id);
    expect(shown?.outcome).toMatchObject({ kind: 'expired', default: null });
    expect(await facade.agent.fetch(id)).toEqual(shown);
  });

  test('when its history is read', async () => {
    const history = await data(facade.agent.get(`/v1/questions/${id}/events`));
    expect(history).toMatchObject([{ type: 'question.asked' }, { type: 'question.expired' }]);
  });

  test('and is neither among those that are pending, nor in the inbox', async () => {
    const pending = await data(facade.agent.get('/v1/questions?state=pending'));
    expect(pending).toEqual([]);
    const inbox = await InboxStream.open(facade.ada);
    const { id: later } = await facade.agent.ask({ scope: { kind: 'direct', user: 'user:ada' } });
    await inbox.told('ping', later);
    expect(inbox.count('ping', id)).toBe(0);
    inbox.close();
    await facade.agent.cancel(later);
  });

  test('as a question whose deadline comes under a wait', async () => {
    const { id: waitedFor } = await facade.agent.ask({
      scope: { kind: 'direct', user: 'user:ada' },
      expiresIn: 1,
    });
    expect((await facade.agent.wait(waitedFor, 2)).state).toBe('expired');
    await facade.agent.fetch(id);
  });
});
