import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Envelope } from '#contracts';
import { InboxStream } from '../support/races/inbox-stream.js';
import { direct, type Instances, roomOf, startInstances } from '../support/races/instances.js';
import type { Participant } from '../support/races/participant.js';

const QUESTIONS = 40;
const INBOXES = 20;
const WITHIN_MS = 1_000;

let settled: Instances;
beforeAll(async () => {
  settled = await startInstances();
});
afterEach(() => settled.assertOneStory());
afterAll(() => settled.stop());

const questions = Array.from({ length: QUESTIONS }, (_, index) => index);

describe('an inbox on one instance', () => {
  test('is told of what is asked and settled on the other, once each, whoever settles it', async () => {
    const { agent, ada, second } = settled;
    const inbox = await InboxStream.open(ada.at(second));
    const ends = await Promise.all(
      questions.map(async (index) => {
        const lifetime = index % 3 === 0 ? { expiresIn: 1 } : {};
        const asked = await agent.ask({ ...direct(ada), ...lifetime });
        expect(await inbox.told('ping', asked.id)).toEqual(asked);
        if (index % 3 === 0) return await agent.wait(asked.id);
        const { question } = await (index % 3 === 1 ? ada.answer(asked.id) : agent.cancel(asked.id));
        return question;
      }),
    );
    for (const end of ends) expect(await inbox.told('retract', end.id, WITHIN_MS)).toEqual(end);
    expect(inbox.messages).toHaveLength(2 * QUESTIONS);
    inbox.close();
  });

  test('that is opened while questions come and go pings what is open, and nothing twice', async () => {
    const { admin, agent, second } = settled;
    const bo = await admin.newcomer('user:bo', ['answer']);
    const open: Promise<InboxStream>[] = [];
    const asked = await Promise.all(questions.map((index) => askAndMaybeAnswer(agent, bo, index)));
    const more = questions.map(async (index) => {
      if (index % 2 === 0) open.push(InboxStream.open(bo.at(second)));
      return await askAndMaybeAnswer(agent, bo, index);
    });
    const all = [...asked, ...(await Promise.all(more))];
    const inboxes = await Promise.all(open);
    expect(inboxes).toHaveLength(INBOXES);
    const { id: last } = await agent.ask(direct(bo));
    for (const inbox of inboxes) {
      await inbox.told('ping', last);
      for (const question of all) {
        const isOpen = question.state === 'pending';
        const [pings, retracts] = [inbox.count('ping', question.id), inbox.count('retract', question.id)];
        expect(isOpen ? [1, 0] : [pings, pings]).toEqual([pings, retracts]);
        expect(pings).toBeLessThanOrEqual(1);
      }
      inbox.close();
    }
  });

  test('follows who joins a room and who leaves it on the other', async () => {
    const { admin, agent, second } = settled;
    const [cy] = (await roomOf(admin, 'ops', 1)) as [Participant];
    await admin.send('PUT', '/v1/rooms/late');
    const inbox = await InboxStream.open(cy.at(second));
    const { id: early } = await agent.ask({ scope: { kind: 'room', room: 'late' } });
    await admin.send('PUT', `/v1/rooms/late/members/${cy.subject}`);
    await inbox.told('ping', early, WITHIN_MS);
    await admin.send('DELETE', `/v1/rooms/late/members/${cy.subject}`);
    expect((await inbox.told('retract', early, WITHIN_MS)).state).toBe('pending');
    const { id: unheard } = await agent.ask({ scope: { kind: 'room', room: 'late' } });
    const { id: heard } = await agent.ask({ scope: { kind: 'room', room: 'ops' } });
    await inbox.told('ping', heard, WITHIN_MS);
    expect([inbox.count('ping', early), inbox.count('ping', unheard)]).toEqual([1, 0]);
    inbox.close();
  });
});

/** Every second question is answered at once. */
async function askAndMaybeAnswer(agent: Participant, bo: Participant, index: number): Promise<Envelope> {
  const question = await agent.ask(direct(bo));
  return index % 2 === 0 ? question : (await bo.answer(question.id)).question;
}
