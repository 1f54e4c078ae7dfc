import { Controller, Inject, Req } from '@nestjs/common';
import { Handles, notFound, type RequestOf } from '#platform';
import { RoomService } from '../room.service.js';
import { getRoomRoute, joinRoomRoute, leaveRoomRoute, putRoomRoute } from './routes.js';

@Controller()
export class RoomsController {
  constructor(@Inject(RoomService) private readonly rooms: RoomService) {}

  @Handles(putRoomRoute)
  async put(@Req() { principal, input }: RequestOf<typeof putRoomRoute>) {
    return await this.rooms.create(principal.tenant, input.params.room);
  }

  @Handles(getRoomRoute)
  async get(@Req() { principal, input }: RequestOf<typeof getRoomRoute>) {
    const room = await this.rooms.see(principal, input.params.room);
    if (room === undefined) throw notFound('room');
    return room;
  }

  @Handles(joinRoomRoute)
  async join(@Req() { principal, input }: RequestOf<typeof joinRoomRoute>) {
    const { room, subject } = input.params;
    if (!(await this.rooms.join(principal.tenant, room, subject))) throw notFound('room');
  }

  @Handles(leaveRoomRoute)
  async leave(@Req() { principal, input }: RequestOf<typeof leaveRoomRoute>) {
    const { room, subject } = input.params;
    if (!(await this.rooms.leave(principal.tenant, room, subject))) throw notFound('room');
  }
}
