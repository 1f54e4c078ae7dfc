import { Controller, Inject, Req, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Handles, JsonText, type RequestOf, StreamGuard } from '#platform';
import { ContinuationService } from '../conversations/continuation.service.js';
import { ConversationService, type Reply } from '../conversations/conversation.service.js';
import {
  beginSendRoute,
  boundaryRoute,
  continuationRoute,
  deleteConversationRoute,
  finishTurnRoute,
  startTurnRoute,
  stopConversationRoute,
  withdrawSendRoute,
} from './conversation-routes.js';
import { markReplayed, requestOf } from './request-of.js';
import { timingOf } from './timing.js';

@Controller()
export class ConversationsController {
  constructor(
    @Inject(ConversationService) private readonly conversations: ConversationService,
    @Inject(ContinuationService) private readonly continuations: ContinuationService,
    @Inject(StreamGuard) private readonly guard: StreamGuard,
  ) {}

  @Handles(beginSendRoute)
  async beginSend(
    @Req() request: RequestOf<typeof beginSendRoute>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { params, body } = request.input;
    const { conversation } = params;
    return sent(
      reply,
      await this.conversations.beginSend(conversation, body, requestOf(request, `sends of ${conversation}`)),
    );
  }

  @Handles(withdrawSendRoute)
  async withdrawSend(@Req() request: RequestOf<typeof withdrawSendRoute>) {
    const { conversation, send } = request.input.params;
    await this.conversations.withdrawSend(conversation, send, requestOf(request, ''));
  }

  @Handles(startTurnRoute)
  async startTurn(
    @Req() request: RequestOf<typeof startTurnRoute>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { params, body } = request.input;
    const { conversation } = params;
    return sent(
      reply,
      await this.conversations.startTurn(conversation, body, requestOf(request, `turns of ${conversation}`)),
    );
  }

  @Handles(boundaryRoute)
  async boundary(
    @Req() request: RequestOf<typeof boundaryRoute>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { conversation, turn } = request.input.params;
    const name = JSON.stringify(['boundary', conversation, turn]);
    return sent(reply, await this.conversations.reachBoundary(conversation, turn, requestOf(request, name)));
  }

  @Handles(finishTurnRoute)
  async finish(
    @Req() request: RequestOf<typeof finishTurnRoute>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { conversation, turn } = request.input.params;
    const name = JSON.stringify(['finish', conversation, turn]);
    return sent(reply, await this.conversations.finishTurn(conversation, turn, requestOf(request, name)));
  }

  @Handles(stopConversationRoute)
  async stop(
    @Req() request: RequestOf<typeof stopConversationRoute>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { conversation } = request.input.params;
    return sent(
      reply,
      await this.conversations.stop(conversation, 'stopped', requestOf(request, `stop of ${conversation}`)),
    );
  }

  @Handles(deleteConversationRoute)
  async delete(
    @Req() request: RequestOf<typeof deleteConversationRoute>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { conversation } = request.input.params;
    return sent(reply, await this.conversations.stop(conversation, 'deleted', requestOf(request, '')));
  }

  @Handles(continuationRoute)
  async wait(
    @Req() request: RequestOf<typeof continuationRoute>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { params, query } = request.input;
    const timing = timingOf(query.timeout, reply);
    const json = await this.continuations.wait(request.principal, params.conversation, timing);
    await this.guard.stillValid(request.headers.authorization);
    return new JsonText(`{"continuation":${json}}`);
  }
}

function sent(reply: FastifyReply, { json, replayed }: Reply): JsonText {
  if (replayed) markReplayed(reply);
  return new JsonText(json);
}
