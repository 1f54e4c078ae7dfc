import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { Chat } from '../support/journeys/chat.js';
import { House, type Question, successful } from '../support/journeys/house.js';
import { badFields, problem } from '../support/journeys/problems.js';
import { figureOf } from '../support/metrics.js';

let house: House;
beforeAll(async () => {
  house = await House.open();
});
afterAll(() => house.close());

const NOTHING = { cancelled: [], dropped: 0 };

describe('in a conversation that is at rest', () => {
  test('an answer begins a continuation, which is taken with what is queued', async () => {
    const chat = new Chat(house);
    const asked = await chat.ask(null, { allowText: true });
    expect(await chat.continuation()).toBeNull();
    const { question } = await house.answer(asked.id, { text: '  Not today,\nAda' });

    const continuation = await chat.continuation();
    expect(continuation).toStrictEqual({ id: expect.stringMatching(/^[0-9a-f-]{36}$/), answers: [question] });
    expect(question.outcome?.answer).toStrictEqual({ kind: 'text', text: '  Not today,\nAda' });
    // Looking takes nothing.
    expect(await chat.continuation()).toStrictEqual(continuation);

    const started = await chat.startTurn({ continuation: continuation?.id });
    expect(started).toStrictEqual({ turn: expect.any(String), answers: [question] });
    expect(await chat.continuation()).toBeNull();
    expect(await chat.boundary(started.turn)).toStrictEqual([]);
    expect(await chat.finish(started.turn)).toStrictEqual({ detached: [], settled: [], continuation: null });
  });

  test('everything that is queued rides with the one continuation, in the order in which it was settled', async () => {
    const chat = new Chat(house);
    const questions = [await chat.ask(null), await chat.ask(null), await chat.ask(null)];
    for (const { id } of questions.toReversed()) await house.answer(id);
    const { id, answers } = (await chat.continuation()) ?? {};
    expect(answers?.map((answer) => answer.id)).toStrictEqual(questions.map((one) => one.id).reverse());
    expect((await chat.startTurn({ continuation: id })).answers).toStrictEqual(answers);
  });

  test('a skip and an expiry are owed like any answer, a withdrawal is not', async () => {
    const chat = new Chat(house);
    const skipped = await chat.ask(null, { allowSkip: true });
    const expiring = await chat.ask(null, { expiresIn: 1, defaultOption: 'no' });
    const withdrawn = await chat.ask(null);
    await house.cancel(withdrawn.id);
    expect(await chat.continuation()).toBeNull();
    await house.answer(skipped.id, { skip: true });
    await house.get(`/v1/questions/${expiring.id}/wait?timeout=10`, house.people.asker);
    const continuation = await chat.continuation();
    expect(continuation?.answers).toStrictEqual([
      await house.fetch(skipped.id),
      await house.fetch(expiring.id),
    ]);
    expect(continuation?.answers.map(({ outcome }) => outcome?.kind)).toStrictEqual(['answered', 'expired']);
  });

  test('a turn that names no continuation receives what is queued and voids it', async () => {
    const chat = new Chat(house);
    const answered = await chat.owe();
    const { id } = (await chat.continuation()) ?? {};
    const { turn, answers } = await chat.startTurn({ turn: 'mine' });
    expect([turn, answers]).toStrictEqual(['mine', [answered]]);
    await chat.finish(turn);
    expect(await chat.refusal('turns', { continuation: id })).toBe('continuation_over');
  });

  test('a continuation is taken once', async () => {
    const chat = new Chat(house);
    await chat.owe();
    const { id } = (await chat.continuation()) ?? {};
    const { turn } = await chat.startTurn({ continuation: id });
    expect(await chat.refusal('turns', { continuation: id })).toBe('conversation_busy');
    await chat.finish(turn);
    expect(await chat.refusal('turns', { continuation: id })).toBe('continuation_over');
    expect(await chat.refusal('turns', { continuation: 'never' })).toBe('continuation_over');
  });

  test('a turn has no boundary and no end', async () => {
    const chat = new Chat(house);
    await chat.ask(null);
    expect(await chat.refusal('turns/never/boundary')).toBe('turn_over');
    expect(await chat.refusal('turns/never/finish')).toBe('turn_over');
    expect(await chat.refusal('turns', { send: 'never' })).toBe('send_over');
  });
});

describe('while a turn runs', () => {
  test('no other starts', async () => {
    const chat = new Chat(house);
    const { turn } = await chat.startTurn();
    expect(await chat.refusal('turns', {})).toBe('conversation_busy');
    const send = await chat.beginSend();
    expect(await chat.refusal('turns', { send })).toBe('conversation_busy');
    await chat.finish(turn);
  });

  test('what it asks is its own: told by wait, fetch and the list of its end, and never queued', async () => {
    const chat = new Chat(house);
    const { turn } = await chat.startTurn();
    const { id } = await chat.ask(turn);
    const waits = house.get(`/v1/questions/${id}/wait?timeout=20`, house.people.asker);
    const { question } = await house.answer(id);
    expect(await successful(await waits)).toStrictEqual(question);
    expect(await chat.boundary(turn)).toStrictEqual([]);
    expect(await chat.finish(turn)).toStrictEqual({ detached: [], settled: [id], continuation: null });
    expect(await chat.continuation()).toBeNull();
  });

  test('a withdrawal of its own question is in the list of its end', async () => {
    const chat = new Chat(house);
    const { turn } = await chat.startTurn();
    const { id } = await chat.ask(turn);
    await house.cancel(id);
    expect(await chat.finish(turn)).toStrictEqual({ detached: [], settled: [id], continuation: null });
  });

  test('an answer to an earlier turn is handed over at the next boundary, once', async () => {
    const chat = new Chat(house);
    const first = await chat.startTurn();
    const { id } = await chat.ask(first.turn);
    await chat.finish(first.turn);
    const { turn } = await chat.startTurn();
    const { question } = await house.answer(id);
    expect(await chat.continuation()).toBeNull();
    expect(await chat.boundary(turn)).toStrictEqual([question]);
    expect(await chat.boundary(turn)).toStrictEqual([]);
    expect(await chat.finish(turn)).toStrictEqual({ detached: [], settled: [], continuation: null });
  });

  test('an answer that it has not read when it finishes starts exactly one further turn', async () => {
    const chat = new Chat(house);
    const { id } = await chat.ask(null);
    const { turn } = await chat.startTurn();
    const { question } = await house.answer(id);
    const { continuation } = await chat.finish(turn);
    expect(await chat.continuation()).toStrictEqual({ id: continuation, answers: [question] });
    const further = await chat.startTurn({ continuation });
    expect(further.answers).toStrictEqual([question]);
    expect((await chat.finish(further.turn)).continuation).toBeNull();
  });

  test('what is asked under another turn is detached', async () => {
    const chat = new Chat(house);
    const first = await chat.startTurn();
    await chat.finish(first.turn);
    const { turn } = await chat.startTurn();
    const { id } = await chat.ask(first.turn);
    const { question } = await house.answer(id);
    expect(await chat.finish(turn)).toMatchObject({ detached: [], settled: [] });
    expect((await chat.continuation())?.answers).toStrictEqual([question]);
  });
});

describe('the end of a turn', () => {
  test('lets go of its waits at once, with what is pending, and its questions stay answerable', async () => {
    const chat = new Chat(house);
    const { turn } = await chat.startTurn();
    const [one, other] = [await chat.ask(turn), await chat.ask(turn)];
    const earlier = await chat.ask(null);
    const { asker } = house.people;
    const begun = performance.now();
    const wait = house.get(`/v1/questions/${one.id}/wait?timeout=50`, asker);
    const waitAny = house.get(`/v1/questions/wait?ids=${one.id},${other.id}&timeout=50`, asker);
    const waitsOn = house.get(`/v1/questions/${earlier.id}/wait?timeout=2`, asker);
    await eventuallyWaiting(3);
    const { detached } = await chat.finish(turn);
    expect(new Set(detached)).toStrictEqual(new Set([one.id, other.id]));
    expect(await successful(await wait)).toStrictEqual(one);
    expect(await successful(await waitAny)).toStrictEqual({ data: [] });
    expect(performance.now() - begun).toBeLessThan(20_000);
    // It was not asked by the turn, and waits until its timeout.
    expect(await successful(await waitsOn)).toStrictEqual(earlier);
    expect(performance.now() - begun).toBeGreaterThan(2_000);

    const { applied, question } = await house.answer(one.id);
    expect(applied).toBe(true);
    expect((await chat.continuation())?.answers).toStrictEqual([question]);
  });

  test('lets the wait for a question of it begin again, which learns the outcome', async () => {
    const chat = new Chat(house);
    const { turn } = await chat.startTurn();
    const { id } = await chat.ask(turn);
    await chat.finish(turn);
    const wait = house.get(`/v1/questions/${id}/wait?timeout=20`, house.people.asker);
    await eventuallyWaiting(1);
    const { question } = await house.answer(id);
    expect(await successful(await wait)).toStrictEqual(question);
  });
});

describe('while a send is being admitted', () => {
  test('a continuation holds back, and the answer rides with the turn of the send', async () => {
    const chat = new Chat(house);
    const { id } = await chat.ask(null);
    const send = await chat.beginSend({ send: 'hello' });
    expect(send).toBe('hello');
    const { question } = await house.answer(id);
    expect(await chat.continuation()).toBeNull();
    const { turn, answers } = await chat.startTurn({ send });
    expect(answers).toStrictEqual([question]);
    expect(await chat.boundary(turn)).toStrictEqual([]);
    expect((await chat.finish(turn)).continuation).toBeNull();
    expect(await chat.refusal('turns', { send })).toBe('send_over');
  });

  test('a continuation that was pending is withdrawn, and another begins when the last send is over', async () => {
    const chat = new Chat(house);
    const answered = await chat.owe();
    const before = await chat.continuation();
    const [one, other] = [await chat.beginSend(), await chat.beginSend()];
    expect(await chat.refusal('turns', { continuation: before?.id })).toBe('continuation_over');
    await chat.withdrawSend(one);
    expect(await chat.continuation()).toBeNull();
    await chat.withdrawSend(other);
    const after = await chat.continuation();
    expect(after?.answers).toStrictEqual([answered]);
    expect(after?.id).not.toBe(before?.id);
  });

  test('a turn that finishes with something queued leaves it to the send', async () => {
    const chat = new Chat(house);
    const { turn } = await chat.startTurn();
    const send = await chat.beginSend();
    const answered = await chat.owe();
    expect((await chat.finish(turn)).continuation).toBeNull();
    expect((await chat.startTurn({ send })).answers).toStrictEqual([answered]);
  });

  test('that is over it cannot be withdrawn', async () => {
    const chat = new Chat(house);
    const send = await chat.beginSend();
    await chat.withdrawSend(send);
    const { code } = await problem(await chat.call('DELETE', `sends/${send}`), 409);
    expect(code).toBe('send_over');
  });
});

describe.each([
  ['stop', (chat: Chat) => chat.stop()],
  ['deletion', (chat: Chat) => chat.delete()],
] as const)('a %s', (how, end) => {
  test('withdraws what is pending, drops what is queued and ends the turn', async () => {
    const chat = new Chat(house);
    const detached = await chat.ask(null);
    const { turn } = await chat.startTurn();
    const attached = await chat.ask(turn);
    await chat.owe();
    const wait = house.get(`/v1/questions/${attached.id}/wait?timeout=20`, house.people.asker);
    await eventuallyWaiting(1);
    expect(await end(chat)).toStrictEqual({ cancelled: [detached.id, attached.id], dropped: 1 });
    expect(await successful<Question>(await wait)).toMatchObject({ state: 'cancelled', version: 2 });
    const reason = `the conversation was ${how === 'stop' ? 'stopped' : 'deleted'}`;
    for (const { id } of [detached, attached])
      expect((await house.fetch(id)).outcome).toMatchObject({
        kind: 'cancelled',
        by: chat.caller.subject,
        reason,
      });
    expect(await chat.continuation()).toBeNull();
    expect(await chat.refusal(`turns/${turn}/boundary`)).toBe('turn_over');
    expect(await chat.refusal(`turns/${turn}/finish`)).toBe('turn_over');
    expect((await house.answer(detached.id)).applied).toBe(false);
    expect((await chat.startTurn()).answers).toStrictEqual([]);
  });

  test('withdraws the continuation that is pending', async () => {
    const chat = new Chat(house);
    await chat.owe();
    const { id } = (await chat.continuation()) ?? {};
    expect(await end(chat)).toStrictEqual({ cancelled: [], dropped: 1 });
    expect(await chat.continuation()).toBeNull();
    expect(await chat.refusal('turns', { continuation: id })).toBe('continuation_over');
  });

  test('of what nobody has mentioned finds nothing, and may be repeated', async () => {
    const chat = new Chat(house);
    expect(await end(chat)).toStrictEqual(NOTHING);
    await chat.ask(null);
    expect((await end(chat)).cancelled).toHaveLength(1);
    expect(await end(chat)).toStrictEqual(NOTHING);
  });

  test('leaves what expired meanwhile as it is', async () => {
    const chat = new Chat(house);
    const { id } = await chat.ask(null, { expiresIn: 1 });
    await house.get(`/v1/questions/${id}/wait?timeout=10`, house.people.asker);
    expect(await end(chat)).toStrictEqual({ cancelled: [], dropped: 1 });
    expect((await house.fetch(id)).state).toBe('expired');
  });

  test(`${how === 'stop' ? 'lets a send go on' : 'ends the sends'}`, async () => {
    const chat = new Chat(house);
    const send = await chat.beginSend();
    await end(chat);
    if (how === 'stop') expect((await chat.startTurn({ send })).answers).toStrictEqual([]);
    else expect(await chat.refusal('turns', { send })).toBe('send_over');
  });
});

describe('somebody who waits for a continuation', () => {
  test('is told when one begins', async () => {
    const chat = new Chat(house);
    const { id } = await chat.ask(null);
    const wait = chat.continuation(20);
    await eventuallyWaiting(1);
    const { question } = await house.answer(id);
    expect((await wait)?.answers).toStrictEqual([question]);
  });

  test('is told nothing by its timeout', async () => {
    const begun = performance.now();
    expect(await new Chat(house).continuation(1)).toBeNull();
    expect(performance.now() - begun).toBeGreaterThan(900);
  });
});

describe('a conversation of somebody else', () => {
  test('is not found, on any route, nor may be asked in', async () => {
    const chat = new Chat(house);
    const { turn } = await chat.startTurn();
    const send = await chat.beginSend();
    const other = new Chat(house, await house.server.key('agent:other', ['ask']), chat.id);
    for (const [method, path] of [
      ['POST', 'sends'],
      ['DELETE', `sends/${send}`],
      ['POST', 'turns'],
      ['POST', `turns/${turn}/boundary`],
      ['POST', `turns/${turn}/finish`],
      ['POST', 'stop'],
      ['DELETE', ''],
      ['GET', 'wait?timeout=0'],
    ] as const)
      await problem(await other.call(method, path), 404);
    const body = { prompt: 'Mine?', allowText: true, options: [], conversation: chat.id };
    const scope = { kind: 'direct', user: 'user:ada' };
    await problem(await house.post('/v1/questions', other.caller, { ...body, scope }), 404);
    expect(await chat.finish(turn)).toStrictEqual({ detached: [], settled: [], continuation: null });
  });

  test('is another one in another tenant, though it has the same name', async () => {
    const chat = new Chat(house);
    await chat.owe();
    const acme = await house.server.key('agent:deployer', ['ask'], 'acme');
    const there = new Chat(house, acme, chat.id);
    expect(await there.continuation()).toBeNull();
    expect((await there.startTurn()).answers).toStrictEqual([]);
    expect((await chat.continuation())?.answers).toHaveLength(1);
  });

  test('keeps its answers to itself', async () => {
    const [one, other] = [new Chat(house), new Chat(house)];
    await one.owe();
    expect(await other.continuation()).toBeNull();
    expect((await other.startTurn()).answers).toStrictEqual([]);
    expect((await one.continuation())?.answers).toHaveLength(1);
  });
});

describe('what is not as the contract has it', () => {
  test.each([
    ['an empty name', { turn: '' }, ['turn']],
    ['a name that is too long', { turn: 'x'.repeat(201) }, ['turn']],
    ['a send that is no name', { send: 7 }, ['send']],
    ['a lease that is too short', { leaseSeconds: 9 }, ['leaseSeconds']],
    ['a lease that is too long', { leaseSeconds: 86_401 }, ['leaseSeconds']],
    ['fields that there are not', { turns: 'a', sent: 'b' }, ['sent', 'turns']],
  ])('in a turn is refused by its field: %s', async (_, body, fields) => {
    const chat = new Chat(house);
    expect(await badFields(await chat.post('turns', body))).toStrictEqual(fields);
    expect((await problem(await chat.post('turns/a/finish'), 404)).code).toBe('not_found');
  });

  test('in its name is refused', async () => {
    for (const id of ['x'.repeat(201), 'a\u0000b'])
      expect(await badFields(await new Chat(house, house.people.asker, id).post('turns', {}))).toHaveLength(
        1,
      );
  });

  test('needs the right to ask', async () => {
    await problem(await new Chat(house, house.people.ada).post('turns', {}), 403);
  });

  test('names are of the client, whatever is in them', async () => {
    const chat = new Chat(house, house.people.asker, 'a/b ?c#d%41é/turns');
    const { turn } = await chat.startTurn({ turn: '../x y' });
    const { id } = await chat.ask(turn);
    expect((await house.fetch(id)) as unknown).toMatchObject({ conversation: chat.id, turn });
    expect((await chat.finish(turn)).detached).toStrictEqual([id]);
  });
});

test('the words of an answer are the same wherever it is told', async () => {
  const chat = new Chat(house);
  const answered = await chat.owe();
  const list = await house.list(`conversation=${chat.id}`);
  expect(list.data).toStrictEqual([answered]);
  const { answers } = await chat.startTurn();
  expect(answers.map(({ outcome }) => outcome?.words)).toStrictEqual(['user:ada answered: Yes']);
});

/** Resolves when that many waits of this test are under way. */
async function eventuallyWaiting(count: number): Promise<void> {
  await eventually(async () => (await figureOf(house.server, 'settled_waits')) === count);
}
