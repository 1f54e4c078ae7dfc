import { Controller, Inject, Req, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Handles, JsonText, notFound, type RequestOf, StreamGuard } from '#platform';
import { WaitService } from '../waits/wait.service.js';
import { waitAnyRoute, waitRoute } from './routes.js';
import { timingOf } from './timing.js';

@Controller()
export class WaitsController {
  constructor(
    @Inject(WaitService) private readonly waits: WaitService,
    @Inject(StreamGuard) private readonly guard: StreamGuard,
  ) {}

  @Handles(waitRoute)
  async wait(@Req() request: RequestOf<typeof waitRoute>, @Res({ passthrough: true }) reply: FastifyReply) {
    const json = await this.waits.wait(
      request.principal,
      request.input.params.id,
      timingOf(request.input.query.timeout, reply),
    );
    await this.guard.stillValid(request.headers.authorization);
    if (json === undefined) throw notFound('question');
    return new JsonText(json);
  }

  @Handles(waitAnyRoute)
  async waitAny(
    @Req() request: RequestOf<typeof waitAnyRoute>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const settled = await this.waits.waitAny(
      request.principal,
      request.input.query.ids,
      timingOf(request.input.query.timeout, reply),
    );
    await this.guard.stillValid(request.headers.authorization);
    if (settled === undefined) throw notFound('question by one of these ids');
    return new JsonText(`{"data":[${settled.join(',')}]}`);
  }
}
