import type pg from 'pg';
import { countAccessChange, inTransaction } from '#platform';

const CREATE = 'INSERT INTO rooms (tenant, room) VALUES ($1, $2) ON CONFLICT DO NOTHING';
const EXISTS = 'SELECT 1 FROM rooms WHERE tenant = $1 AND room = $2';
const MEMBERS =
  'SELECT subject FROM room_members WHERE tenant = $1 AND room = $2 ORDER BY since, subject LIMIT $3';
const JOIN = `INSERT INTO room_members (tenant, room, subject) SELECT tenant, room, $3 FROM rooms
  WHERE tenant = $1 AND room = $2 ON CONFLICT DO NOTHING`;
const LEAVE = 'DELETE FROM room_members WHERE tenant = $1 AND room = $2 AND subject = $3';
const ROOMS_OF = 'SELECT room FROM room_members WHERE tenant = $1 AND subject = $2 LIMIT $3';

const MEMBERS_MAX = 100_000;
const ROOMS_OF_A_SUBJECT_MAX = 10_000;

/** Rooms and who is in them. Rooms are never deleted. */
export class RoomStore {
  readonly #known = new Set<string>();

  constructor(private readonly pool: pg.Pool) {}

  async create(tenant: string, room: string): Promise<void> {
    await this.pool.query(CREATE, [tenant, room]);
  }

  async exists(tenant: string, room: string): Promise<boolean> {
    const name = `${tenant}/${room}`;
    if (this.#known.has(name)) return true;
    const { rowCount } = await this.pool.query(EXISTS, [tenant, room]);
    if (rowCount === 1) this.#known.add(name);
    return rowCount === 1;
  }

  /** In the order in which they joined. */
  async members(tenant: string, room: string): Promise<string[]> {
    const { rows } = await this.pool.query<{ subject: string }>(MEMBERS, [tenant, room, MEMBERS_MAX]);
    return rows.map(({ subject }) => subject);
  }

  async roomsOf(tenant: string, subject: string): Promise<string[]> {
    const { rows } = await this.pool.query<{ room: string }>(ROOMS_OF, [
      tenant,
      subject,
      ROOMS_OF_A_SUBJECT_MAX,
    ]);
    return rows.map(({ room }) => room);
  }

  async join(tenant: string, room: string, subject: string): Promise<void> {
    await this.#change(JOIN, [tenant, room, subject]);
  }

  async leave(tenant: string, room: string, subject: string): Promise<void> {
    await this.#change(LEAVE, [tenant, room, subject]);
  }

  async #change(sql: string, values: readonly string[]): Promise<void> {
    await inTransaction(this.pool, async (client) => {
      const { rowCount } = await client.query(sql, [...values]);
      if (rowCount === 1) await countAccessChange(client);
    });
  }
}
