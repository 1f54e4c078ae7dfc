import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { Chat } from '../support/journeys/chat.js';
import { Hooks } from '../support/webhooks/hooks.js';
import { Receiver } from '../support/webhooks/receiver.js';

/** Seconds before the second announcement and every further one. */
const AGAIN_AFTER = '0.5';

let hooks: Hooks;
let receiver: Receiver;
beforeAll(async () => {
  hooks = await Hooks.open({ WEBHOOKS_ANNOUNCE_SCHEDULE: AGAIN_AFTER });
});
afterAll(() => hooks.close());
beforeEach(async () => {
  receiver = await Receiver.start();
});
afterEach(() => receiver.stop());

const told = () =>
  receiver.received.map(({ data }) => data as unknown as { conversation: string; continuation: string });

describe('a webhook that wants continuations', () => {
  test('is told of one, and again until it is taken, with ids of their own', async () => {
    const { secret } = await hooks.create(receiver.url, { events: ['conversation.continuation'] });
    const chat = new Chat(hooks.house);
    const answered = await chat.owe();
    const pending = await chat.continuation();
    await eventually(() => receiver.received.length >= 2);
    for (const received of receiver.received.slice(0, 2)) {
      receiver.verify(received, secret);
      expect(received.type).toBe('conversation.continuation');
      expect(received.data).toEqual({
        conversation: chat.id,
        continuation: pending?.id,
        answers: [answered],
      });
    }
    const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids).size).toBe(ids.length);

    await chat.startTurn({ continuation: pending?.id });
    const other = new Chat(hooks.house);
    const before = receiver.received.length;
    await other.owe();
    // What was on its way when the turn started may still come, once.
    await eventually(() => told().filter(({ conversation }) => conversation === other.id).length >= 3);
    expect(
      told()
        .slice(before)
        .filter(({ conversation }) => conversation === chat.id).length,
    ).toBeLessThan(2);
    await other.stop();
  });
});

test('a webhook that does not say what it wants is told of no continuation', async () => {
  await hooks.create(receiver.url);
  const chat = new Chat(hooks.house);
  await chat.owe();
  await eventually(() => receiver.received.length === 1);
  const second = await Receiver.start();
  await hooks.create(second.url, { events: ['conversation.continuation'] });
  await eventually(() => second.received.length === 1);
  expect(receiver.types).toEqual(['question.answered']);
  second.stop();
});
