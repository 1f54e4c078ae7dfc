import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { Authenticator, type EventStream } from '#platform';
import { QuestionWriter } from '#settling';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database.js';
import { eventually } from '../../../test/support/eventually.js';
import { Gate } from '../../../test/support/gate.js';
import { append, openLog, type TestLog } from '../../../test/support/log.js';
import { ask, TENANT } from '../../../test/support/log-entries.js';
import { QuestionCache } from '../question-cache.js';
import { QuestionReader } from '../question-reader.js';
import { RoomStore } from '../store/rooms.js';
import { InboxService } from './inbox.service.js';

const PERSON = 'user:ada';
const ROOM = 'deploys';

/** Reads memberships, and then holds back what it has read until its gate is opened. */
class SlowRooms extends RoomStore {
  readonly gates: Gate[] = [];

  override async roomsOf(tenant: string, subject: string): Promise<string[]> {
    const rooms = await super.roomsOf(tenant, subject);
    await this.gates.shift()?.pass();
    return rooms;
  }
}

let database: TestDatabase;
let open: TestLog;
let rooms: SlowRooms;
let authenticator: Authenticator;
let inbox: InboxService;
/** Of questions, by id. */
const names = new Map<string, string>();
let closing: (() => void)[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  open = await openLog(database.connection);
  rooms = new SlowRooms(open.pool);
  authenticator = new Authenticator(open.pool, undefined);
  const writer = new QuestionWriter(open.log);
  const reader = new QuestionReader(writer, new QuestionCache());
  inbox = new InboxService(writer, reader, rooms, authenticator);
  open.log.tail.observe((events) => inbox.follow(events));
  await rooms.create(TENANT, ROOM);
});
afterEach(() => {
  for (const close of closing) close();
  closing = [];
});
afterAll(async () => {
  await open.stop();
  await database.drop();
});

/** An inbox that is being opened, and that is held back after its look at the memberships. */
function listen() {
  const told: string[] = [];
  const send = ({ event, data }: { event: string; data: string }) => {
    const { id } = JSON.parse(data) as { id: string };
    told.push(`${event} ${names.get(id)}`);
  };
  const closed = (listener: () => void) => closing.push(listener);
  const stream = { open: true, send, closed, end: () => {} } as unknown as EventStream;
  const gate = hold();
  return { told, gate, opened: inbox.open(principal, stream, undefined) };
}

async function askOf(kind: 'room' | 'direct', name: string): Promise<void> {
  const scope = kind === 'room' ? { kind, room: ROOM } : { kind, user: PERSON };
  const addressee = kind === 'room' ? `room:${ROOM}` : `direct:${PERSON}`;
  const id = randomUUID();
  names.set(id, name);
  await append(open.log, ask(id, { data: JSON.stringify({ scope }), view: { addressee, asker: 'agent:a' } }));
}

/** Holds back the next look at memberships. */
function hold(): Gate {
  const gate = new Gate();
  rooms.gates.push(gate);
  return gate;
}

const principal = { tenant: TENANT, subject: PERSON, scopes: new Set(['answer' as const]) };

test('an inbox hears of a room that its person joins while it is opened', async () => {
  await askOf('room', 'first');
  const { told, gate, opened } = listen();
  await gate.reached;
  await rooms.join(TENANT, ROOM, PERSON);
  authenticator.forget();
  gate.open();
  await opened;
  await eventually(() => told.length > 0, 2_000);
  expect(told).toEqual(['ping first']);
});

test('an inbox goes by the memberships that were read last, however long a look before took', async () => {
  const { told, gate, opened } = listen();
  gate.open();
  await opened;
  expect(told).toEqual(['ping first']);
  const slow = hold();
  authenticator.forget();
  await slow.reached;
  await rooms.leave(TENANT, ROOM, PERSON);
  authenticator.forget();
  // Time enough for a later look to overtake the slow one, should it be able to.
  await eventually(() => told.length > 1, 300).catch(() => {});
  slow.open();
  await eventually(() => told.length > 1, 2_000);
  await askOf('room', 'second');
  await askOf('direct', 'third');
  await eventually(() => told.length > 2, 2_000);
  expect(told).toEqual(['ping first', 'retract first', 'ping third']);
});
