import { Controller, Inject, Req, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Handles, type RequestOf } from '#platform';
import { WebhookService } from '../webhook.service.js';
import { requestOf, sendOutcome } from './request.js';
import {
  createWebhookRoute,
  deleteWebhookRoute,
  fetchWebhookRoute,
  listDeliveriesRoute,
  listWebhooksRoute,
  replayWebhookRoute,
  rotateSecretRoute,
  testWebhookRoute,
  updateWebhookRoute,
  webhookSecretRoute,
} from './routes.js';

@Controller()
export class WebhooksController {
  constructor(@Inject(WebhookService) private readonly webhooks: WebhookService) {}

  @Handles(createWebhookRoute)
  async create(
    @Req() request: RequestOf<typeof createWebhookRoute>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const created = await this.webhooks.create(
      request.input.body,
      requestOf(request, createWebhookRoute.path),
    );
    reply.header('location', `/v1/webhooks/${created.result.id}`);
    return sendOutcome(created, reply);
  }

  @Handles(listWebhooksRoute)
  async list(@Req() { principal, input }: RequestOf<typeof listWebhooksRoute>) {
    return await this.webhooks.list(principal, input.query);
  }

  @Handles(fetchWebhookRoute)
  async fetch(@Req() { principal, input }: RequestOf<typeof fetchWebhookRoute>) {
    return await this.webhooks.see(principal, input.params.id);
  }

  @Handles(updateWebhookRoute)
  async update(@Req() { principal, input }: RequestOf<typeof updateWebhookRoute>) {
    return await this.webhooks.update(principal, input.params.id, input.body);
  }

  @Handles(deleteWebhookRoute)
  async delete(@Req() { principal, input }: RequestOf<typeof deleteWebhookRoute>) {
    await this.webhooks.delete(principal, input.params.id);
  }

  @Handles(webhookSecretRoute)
  async secret(@Req() { principal, input }: RequestOf<typeof webhookSecretRoute>) {
    return await this.webhooks.secret(principal, input.params.id);
  }

  @Handles(rotateSecretRoute)
  async rotate(
    @Req() request: RequestOf<typeof rotateSecretRoute>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { params, body } = request.input;
    const asked = requestOf(request, `/v1/webhooks/${params.id}/rotate-secret`);
    return sendOutcome(await this.webhooks.rotateSecret(params.id, body.overlapSeconds, asked), reply);
  }

  @Handles(testWebhookRoute)
  async test(
    @Req() request: RequestOf<typeof testWebhookRoute>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { id } = request.input.params;
    return sendOutcome(await this.webhooks.test(id, requestOf(request, `/v1/webhooks/${id}/test`)), reply);
  }

  @Handles(replayWebhookRoute)
  async replay(
    @Req() request: RequestOf<typeof replayWebhookRoute>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { params, body } = request.input;
    const asked = requestOf(request, `/v1/webhooks/${params.id}/replay`);
    return sendOutcome(await this.webhooks.replay(params.id, body, asked), reply);
  }

  @Handles(listDeliveriesRoute)
  async deliveries(@Req() { principal, input }: RequestOf<typeof listDeliveriesRoute>) {
    return await this.webhooks.deliveries(principal, input.params.id, input.query);
  }
}
