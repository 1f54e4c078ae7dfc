import { type Principal } from '#contracts';
import { addresseeOf } from '#domain';
import type { EventLog, LoggedEvent } from '#eventlog';
import type { Authenticator, EventStream } from '#platform';
import { type QuestionWriter, sweepOverdue } from '#settling';
import { questionOf } from '../question-cache.js';
import type { QuestionReader } from '../question-reader.js';
import { readOpen, readSettledSince } from '../store/open-questions.js';
import type { RoomStore } from '../store/rooms.js';
import { InboxConnection } from './inbox-connection.js';

const OPEN_MAX = 10_000;
const RESUMED_MAX = 10_000;

/** The open inboxes of this process. The tail tells them what is asked and what settles, the access watch who moves. */
export class InboxService {
  readonly #connections = new Set<InboxConnection>();
  private readonly log: EventLog;

  constructor(
    private readonly writer: QuestionWriter,
    private readonly reader: QuestionReader,
    private readonly rooms: RoomStore,
    authenticator: Authenticator,
  ) {
    this.log = writer.log;
    authenticator.watch(() => void this.#followRooms());
  }

  get size(): number {
    return this.#connections.size;
  }

  /** Opens an inbox: first what is open, then what a resuming client has missed, then what comes. */
  async open(principal: Principal, stream: EventStream, lastEventId: number | undefined): Promise<void> {
    const connection = new InboxConnection(principal, stream);
    // What happens from here on is kept until the past has been told.
    const early: LoggedEvent[] = [];
    const leave = this.log.tail.observe((events) => early.push(...events));
    try {
      const position = this.log.tail.position;
      await sweepOverdue(this.writer);
      connection.rooms = new Set(await this.rooms.roomsOf(principal.tenant, principal.subject));
      await this.#pingOpen(connection, connection.addressees, lastEventId ?? position);
      if (lastEventId !== undefined) await this.#retractSince(connection, lastEventId);
      for (const event of early) this.#tell(connection, event);
      this.#connections.add(connection);
      stream.closed(() => this.#connections.delete(connection));
      if (!stream.open) this.#connections.delete(connection);
    } finally {
      leave();
    }
    // Nobody has told it of who moved while it was opened.
    await this.#followRoomsOf(connection);
  }

  /** To be called with every event that the tail tells of. */
  follow(events: readonly LoggedEvent[]): void {
    if (this.#connections.size === 0) return;
    for (const event of events) {
      for (const connection of this.#connections) this.#tell(connection, event);
    }
  }

  #tell(connection: InboxConnection, event: LoggedEvent): void {
    if (event.tenant !== connection.principal.tenant) return;
    if (event.type !== 'question.asked') return connection.settle(event);
    const id = questionOf(event);
    const addressee = addresseeOf(JSON.parse(event.data));
    // What has settled since it was asked is never pinged.
    if (id === undefined || event.envelope === null || !connection.addressees.includes(addressee)) return;
    connection.ping({ id, addressee, envelope: event.envelope }, event.position);
  }

  async #pingOpen(
    connection: InboxConnection,
    addressees: readonly string[],
    position: number,
  ): Promise<void> {
    const { tenant } = connection.principal;
    const open = await readOpen(this.log.pool, { tenant, addressees }, OPEN_MAX);
    for (const question of open) connection.ping(question, position);
  }

  async #retractSince(connection: InboxConnection, after: number): Promise<void> {
    const { addressees, principal } = connection;
    const to = { tenant: principal.tenant, addressees, after, limit: RESUMED_MAX };
    for (const { id, envelope, position } of await readSettledSince(this.log.pool, to)) {
      connection.retract(id, envelope, Number(position));
    }
  }

  /** Who joined a room is pinged for what is open in it; who left gets retracts. */
  async #followRooms(): Promise<void> {
    for (const connection of this.#connections) {
      // Who cannot be told comes back with a new connection.
      await this.#followRoomsOf(connection).catch(() => connection.end());
    }
  }

  #followRoomsOf(connection: InboxConnection): Promise<void> {
    return connection.oneAtATime(async () => {
      const { principal } = connection;
      const before = connection.rooms;
      connection.rooms = new Set(await this.rooms.roomsOf(principal.tenant, principal.subject));
      const joined = [...connection.rooms].filter((room) => !before.has(room)).map((room) => `room:${room}`);
      const left = [...before].filter((room) => !connection.rooms.has(room));
      if (joined.length > 0) await this.#pingOpen(connection, joined, this.log.tail.position);
      for (const room of left) await this.#retractRoom(connection, room);
    });
  }

  async #retractRoom(connection: InboxConnection, room: string): Promise<void> {
    const { tenant } = connection.principal;
    for (const id of connection.shownOf(`room:${room}`)) {
      const json = await this.reader.current(tenant, id);
      if (json !== undefined) connection.retract(id, json, this.log.tail.position);
    }
  }
}
