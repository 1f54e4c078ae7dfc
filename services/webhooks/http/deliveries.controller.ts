import { Controller, Inject, Req, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Handles, type RequestOf } from '#platform';
import { WebhookService } from '../webhook.service.js';
import { requestOf, sendOutcome } from './request.js';
import { fetchDeliveryRoute, retryDeliveryRoute } from './routes.js';

@Controller()
export class DeliveriesController {
  constructor(@Inject(WebhookService) private readonly webhooks: WebhookService) {}

  @Handles(fetchDeliveryRoute)
  async fetch(@Req() { principal, input }: RequestOf<typeof fetchDeliveryRoute>) {
    return await this.webhooks.delivery(principal, input.params.id);
  }

  @Handles(retryDeliveryRoute)
  async retry(
    @Req() request: RequestOf<typeof retryDeliveryRoute>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { id } = request.input.params;
    const asked = requestOf(request, `/v1/webhook-deliveries/${id}/retry`);
    return sendOutcome(await this.webhooks.retry(id, asked), reply);
  }
}
