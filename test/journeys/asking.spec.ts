import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ADA, House, NO, type Question, questionBody, successful, YES } from '../support/journeys/house.js';
import { problem } from '../support/journeys/problems.js';

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

let house: House;
beforeAll(async () => {
  house = await House.open();
});
afterAll(() => house.close());

const lifetimeMs = ({ askedAt, expiresAt }: Question) => Date.parse(expiresAt) - Date.parse(askedAt);

describe('asking', () => {
  test('answers 201 with the place of the question and the envelope, every key of it', async () => {
    const response = await house.post('/v1/questions', house.people.asker, questionBody());
    expect(response.headers.get('content-type')).toMatch(/^application\/json\b/);
    const location = response.headers.get('location');
    const question = await successful<Question>(response, 201);
    expect(question).toStrictEqual({
      object: 'question',
      id: expect.stringMatching(UUID_V7),
      tenant: 'default',
      version: 1,
      state: 'pending',
      asker: 'agent:deployer',
      scope: { kind: 'direct', user: ADA },
      prompt: 'Deploy build 1234?',
      context: null,
      options: [YES, NO],
      allowText: false,
      allowSkip: false,
      conversation: null,
      turn: null,
      metadata: {},
      askedAt: expect.stringMatching(INSTANT),
      expiresAt: expect.stringMatching(INSTANT),
      outcome: null,
    });
    const place = new URL(location ?? '', house.server.url);
    expect(place.pathname).toBe(`/v1/questions/${question.id}`);
    expect(await house.fetch(question.id)).toStrictEqual(question);
  });

  test('keeps everything that was given', async () => {
    const given = {
      context: '# Build\n\n*green* — see `log`',
      allowText: true,
      allowSkip: true,
      metadata: { build: 1234, nested: { list: [1, 'two', null, true, 0.5] }, 'key with spaces': '' },
      conversation: 'chat-1',
      turn: 'turn-1',
    };
    const question = await house.ask({ ...given, defaultOption: 'no' });
    expect(question).toMatchObject(given);
    expect(await house.fetch(question.id)).toStrictEqual(question);
  });

  test('keeps text of every script and the order of options as they are', async () => {
    const prompt = '  Grüße, 世界 👩‍👩‍👧 e\u0301 \u202e\t?\n';
    const options = ['z', 'a', 'Z', 'é', '10', '2'].map((id) => ({ id, label: `<b>${id}</b> & "more"` }));
    const question = await house.ask({ prompt, options });
    expect([question.prompt, question.options]).toStrictEqual([prompt, options]);
    expect((await house.fetch(question.id)).prompt).toBe(prompt);
  });

  test('keeps the description of an option', async () => {
    const option = { id: 'yes', label: 'Yes', description: 'Goes live at once' };
    const question = await house.ask({ options: [option, NO] });
    expect(question.options[0]).toStrictEqual(option);
    const { question: settled } = await house.answer(question.id);
    expect(settled.outcome).toMatchObject({ answer: { kind: 'option', option: YES } });
  });

  test('gives a question a day when no deadline is named', async () => {
    expect(lifetimeMs(await house.ask())).toBe(24 * 60 * 60 * 1000);
  });

  test.each([1, 60, 7_776_000])('gives it %p seconds when asked to', async (expiresIn) => {
    expect(lifetimeMs(await house.ask({ expiresIn }))).toBe(expiresIn * 1000);
  });

  test('shows a deadline with an offset in UTC', async () => {
    const inAnHour = Date.now() + 3_600_000;
    const local = new Date(inAnHour + 2 * 3_600_000).toISOString().replace('Z', '+02:00');
    expect((await house.ask({ expiresAt: local })).expiresAt).toBe(new Date(inAnHour).toISOString());
  });

  test('shows a deadline without fractions with milliseconds', async () => {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString().replace(/\.\d+Z/, 'Z');
    expect((await house.ask({ expiresAt })).expiresAt).toBe(expiresAt.replace('Z', '.000Z'));
  });

  test('needs no options when a text is allowed', async () => {
    const question = await house.ask({ options: [], allowText: true });
    expect(question.options).toStrictEqual([]);
  });

  test('takes up to twenty options', async () => {
    const options = Array.from({ length: 20 }, (_, index) => ({ id: `o${index}`, label: `Option ${index}` }));
    expect((await house.ask({ options })).options).toStrictEqual(options);
  });

  test('takes the longest prompt, context and metadata that are allowed', async () => {
    const prompt = 'p'.repeat(2_000);
    const context = 'é'.repeat(8_192);
    // {"m":"…"} is eight bytes around the text.
    const metadata = { m: 'é'.repeat((4_096 - 8) / 2) };
    const question = await house.ask({ prompt, context, metadata });
    expect(question).toMatchObject({ prompt, context, metadata });
  });

  test('is told in the order of ids, as they are made in time', async () => {
    const ids = [await house.ask(), await house.ask(), await house.ask()].map(({ id }) => id);
    expect([...ids].sort()).toStrictEqual(ids);
  });

  test('needs a key', async () => {
    const response = await house.post('/v1/questions', undefined, questionBody());
    expect(response.headers.get('www-authenticate')).toMatch(/^Bearer\b/);
    await problem(response, 401);
  });

  test('needs the scope ask', async () => {
    for (const caller of [house.people.ada, house.people.auditor])
      await problem(await house.post('/v1/questions', caller, questionBody()), 403);
  });
});
