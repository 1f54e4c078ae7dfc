import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Envelope } from '#contracts';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { Gate } from '../support/gate.js';
import { InboxStream } from '../support/races/inbox-stream.js';
import { assertOneStory } from '../support/races/one-story.js';
import { type FacadeAlone, startWithoutSweeper } from '../support/races/without-sweeper.js';

let database: TestDatabase;
let facade: FacadeAlone;
beforeAll(async () => {
  database = await createTestDatabase();
  facade = await startWithoutSweeper(database.connection);
  await facade.admin.send('PUT', '/v1/rooms/ops');
});
afterEach(() => assertOneStory(database.connection));
afterAll(async () => {
  await facade.stop();
  await database.drop();
});

type Call = (...given: unknown[]) => Promise<unknown>;

/** Holds back what the next call of a method has found, once the database has said it. */
function holdNext<Name extends string>(
  owner: Record<Name, unknown>,
  name: Name,
  isIt: (first: unknown) => boolean = () => true,
): Gate {
  const gate = new Gate();
  const method = owner[name] as Call;
  const held: Call = async (...given) => {
    if (!isIt(given[0])) return await method.apply(owner, given);
    owner[name] = method;
    const found = await method.apply(owner, given);
    await gate.pass();
    return found;
  };
  owner[name] = held;
  return gate;
}

function readsWhatIsOpen(query: unknown): boolean {
  return (query as { name?: string }).name === 'open';
}

const looks: Record<string, (id: string) => Promise<Envelope | undefined>> = {
  'a wait': (id) => facade.agent.wait(id, 5),
  'a wait for any': async (id) => {
    const { data } = (await facade.agent.get(`/v1/questions/wait?ids=${id}&timeout=5`)) as {
      data: Envelope[];
    };
    return data[0];
  },
};

test.each(Object.keys(looks))(
  '%s that has seen a question pending learns how it was settled since',
  async (look) => {
    const { id } = await facade.agent.ask({ scope: { kind: 'room', room: 'ops' } });
    const held = holdNext(facade.log, 'load');
    const waiting = looks[look]?.(id);
    await held.reached;
    const { question } = await facade.agent.cancel(id);
    held.open();
    const startedMs = performance.now();
    expect(await waiting).toEqual(question);
    expect(performance.now() - startedMs).toBeLessThan(1_000);
  },
);

test('an inbox that has seen what is open is told what was asked and what was settled since, once', async () => {
  const { agent, ada } = facade;
  const scope = { kind: 'direct', user: ada.subject };
  const before = await agent.ask({ scope });
  const held = holdNext(facade.log.pool, 'query', readsWhatIsOpen);
  const inbox = await InboxStream.open(ada);
  await held.reached;
  const since = await agent.ask({ scope });
  const { question } = await agent.cancel(before.id);
  held.open();
  expect(await inbox.told('ping', since.id)).toEqual(since);
  expect(await inbox.told('retract', before.id)).toEqual(question);
  const { id: last } = await agent.ask({ scope });
  await inbox.told('ping', last);
  const told = inbox.messages.map(({ event, question: { id } }) => `${event} ${id}`);
  expect(told.sort()).toEqual(
    [`ping ${before.id}`, `ping ${since.id}`, `ping ${last}`, `retract ${before.id}`].sort(),
  );
  inbox.close();
});
