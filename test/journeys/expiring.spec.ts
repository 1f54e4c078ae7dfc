import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { House, NO, type Question, successful } from '../support/journeys/house.js';

let house: House;
beforeAll(async () => {
  house = await House.open();
});
afterAll(() => house.close());

const expired = async (id: string) =>
  await successful<Question>(await house.get(`/v1/questions/${id}/wait?timeout=60`, house.people.asker));

/** Whether the deadline had passed before that moment: the database and this test share a clock. */
const overdueAt = ({ expiresAt }: Question, moment: number) => moment >= Date.parse(expiresAt);

describe('a question that nobody answers', () => {
  test('expires without a choice', async () => {
    const asked = await house.ask({ expiresIn: 1 });
    const question = await expired(asked.id);
    expect(question).toStrictEqual({
      ...asked,
      version: 2,
      state: 'expired',
      outcome: {
        kind: 'expired',
        at: expect.stringMatching(/Z$/),
        default: null,
        words: expect.stringMatching(/\S/),
      },
    });
    const at = String(question.outcome?.at);
    expect(Date.parse(at)).toBeGreaterThanOrEqual(Date.parse(asked.expiresAt));
    expect(question.outcome?.words).not.toMatch(/answered: |user:ada/);
  });

  test('echoes the default of its asker and is not answered for that', async () => {
    const { id } = await house.ask({ expiresIn: 1, defaultOption: 'no' });
    const question = await expired(id);
    expect([question.state, question.outcome?.kind]).toStrictEqual(['expired', 'expired']);
    expect(question.outcome?.default).toStrictEqual(NO);
    expect(question.outcome).not.toHaveProperty('answer');
    expect(question.outcome).not.toHaveProperty('by');
    expect(question.outcome?.words).not.toMatch(/\banswered: /);
  });

  test('takes neither a late answer nor a late withdrawal, however they are worded', async () => {
    const { id } = await house.ask({ expiresIn: 1 });
    const question = await expired(id);
    for (const choice of [{ option: 'yes' }, { option: 'no' }, { option: 'maybe' }])
      expect(await house.answer(id, choice)).toStrictEqual({ applied: false, question });
    expect(await house.cancel(id, { reason: 'late' })).toStrictEqual({ applied: false, question });
    expect(await house.cancel(id, {}, house.people.admin)).toStrictEqual({ applied: false, question });
    expect(await house.fetch(id)).toStrictEqual(question);
  });

  test('has one terminal event, by the system', async () => {
    const { id } = await house.ask({ expiresIn: 1, defaultOption: 'no' });
    const question = await expired(id);
    const response = await house.get(`/v1/questions/${id}/events`, house.people.asker);
    const { data } = await successful<{ data: Record<string, unknown>[] }>(response);
    expect(data.map(({ type, actor, version }) => [type, actor, version])).toStrictEqual([
      ['question.asked', 'agent:deployer', 1],
      ['question.expired', 'system:expiry', 2],
    ]);
    expect(data[1]).toMatchObject({ at: question.outcome?.at, data: { default: NO } });
  });

  test('stays as it was in its earlier version', async () => {
    const asked = await house.ask({ expiresIn: 1 });
    await expired(asked.id);
    const earlier = await house.get(`/v1/questions/${asked.id}?version=1`, house.people.asker);
    expect(await successful(earlier)).toStrictEqual(asked);
  });
});

describe('after its deadline a question is never pending', () => {
  test('on any surface, at any moment', async () => {
    const asked = await house.ask({ expiresIn: 1, conversation: 'watched' });
    const { asker, ada } = house.people;
    let reads = 0;
    await eventually(async () => {
      const moment = Date.now();
      const seen = [
        await house.fetch(asked.id),
        await house.fetch(asked.id, ada),
        await successful<Question>(await house.get(`/v1/questions/${asked.id}/wait?timeout=0`, asker)),
        ...(await house.list('conversation=watched')).data,
      ];
      const open = await house.list('state=pending&conversation=watched');
      if (!overdueAt(asked, moment)) return false;
      expect(seen.map(({ state }) => state)).toStrictEqual(['expired', 'expired', 'expired', 'expired']);
      expect(open.data).toStrictEqual([]);
      reads += 1;
      return reads > 5;
    });
  });

  test('for those who answer on the stroke of it', async () => {
    const asked = await house.ask({ expiresIn: 1 });
    await eventually(() => overdueAt(asked, Date.now()));
    const { applied, question } = await house.answer(asked.id);
    expect([applied, question.state]).toStrictEqual([false, 'expired']);
  });

  test('for an asker that withdraws on the stroke of it', async () => {
    const asked = await house.ask({ expiresIn: 1 });
    await eventually(() => overdueAt(asked, Date.now()));
    const { applied, question } = await house.cancel(asked.id);
    expect([applied, question.state]).toStrictEqual([false, 'expired']);
  });

  test('also when nothing ran at the deadline', async () => {
    const asked = [
      await house.ask({ expiresIn: 1 }),
      await house.ask({ expiresIn: 1 }),
      await house.ask({ expiresIn: 1 }),
    ];
    await house.server.kill();
    await eventually(() => asked.every((question) => overdueAt(question, Date.now())));
    await house.restart();
    const [one, two, three] = asked.map(({ id }) => id) as [string, string, string];
    const [fetched, answered, listed] = await Promise.all([
      house.fetch(one),
      house.answer(two),
      house.list('limit=3'),
    ]);
    expect(fetched.state).toBe('expired');
    expect([answered.applied, answered.question.state]).toStrictEqual([false, 'expired']);
    expect(listed.data.map(({ state }) => state)).toStrictEqual(['expired', 'expired', 'expired']);
    expect((await house.fetch(three)).state).toBe('expired');
  });
});
