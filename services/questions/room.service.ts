import type { Principal, Room } from '#contracts';
import type { Authenticator } from '#platform';
import type { RoomStore } from './store/rooms.js';

/** Rooms and their members. A change is seen at once by what this process has open. */
export class RoomService {
  constructor(
    private readonly rooms: RoomStore,
    private readonly authenticator: Authenticator,
  ) {}

  async create(tenant: string, room: string): Promise<Room> {
    await this.rooms.create(tenant, room);
    return { room, members: await this.rooms.members(tenant, room) };
  }

  /** Members see their room; so do admins and auditors. */
  async see({ tenant, subject, scopes }: Principal, room: string): Promise<Room | undefined> {
    if (!(await this.rooms.exists(tenant, room))) return undefined;
    const members = await this.rooms.members(tenant, room);
    const allowed = scopes.has('admin') || scopes.has('audit') || members.includes(subject);
    return allowed ? { room, members } : undefined;
  }

  /** False when there is no such room. */
  async join(tenant: string, room: string, subject: string): Promise<boolean> {
    if (!(await this.rooms.exists(tenant, room))) return false;
    await this.rooms.join(tenant, room, subject);
    this.authenticator.forget();
    return true;
  }

  /** False when there is no such room. Who was not in it has left it, too. */
  async leave(tenant: string, room: string, subject: string): Promise<boolean> {
    if (!(await this.rooms.exists(tenant, room))) return false;
    await this.rooms.leave(tenant, room, subject);
    this.authenticator.forget();
    return true;
  }
}
