import { Controller, Inject, Req, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { EventStream, Handles, type RequestOf, StreamGuard } from '#platform';
import { InboxService } from '../inbox/inbox.service.js';
import { lastEventIdOf } from './last-event-id.js';
import { inboxRoute } from './routes.js';

@Controller()
export class InboxController {
  constructor(
    @Inject(InboxService) private readonly inbox: InboxService,
    @Inject(StreamGuard) private readonly guard: StreamGuard,
  ) {}

  @Handles(inboxRoute)
  async open(@Req() request: RequestOf<typeof inboxRoute>, @Res() reply: FastifyReply) {
    const lastEventId = lastEventIdOf(request.headers['last-event-id']);
    const stream = new EventStream(reply);
    this.guard.guard(stream, request.headers.authorization);
    try {
      await this.inbox.open(request.principal, stream, lastEventId);
    } catch (error) {
      // The headers are out: the client comes back by itself.
      stream.end();
      throw error;
    }
  }
}
