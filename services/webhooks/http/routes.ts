import { z } from 'zod';
import {
  CreatedWebhookSchema,
  CreateWebhookBodySchema,
  DeliveriesQuerySchema,
  DeliveryListSchema,
  DeliverySchema,
  IdSchema,
  ReplayBodySchema,
  ReplayedSchema,
  RotatedSecretSchema,
  RotateSecretBodySchema,
  UpdateWebhookBodySchema,
  WebhookListSchema,
  WebhookSchema,
  WebhookSecretSchema,
  WebhooksQuerySchema,
} from '#contracts';
import { route } from '#platform';

const IdParamsSchema = z.strictObject({ id: IdSchema });
const NoBodySchema = z.strictObject({}).meta({ id: 'Nothing' });
const access = ['webhooks'] as const;

export const createWebhookRoute = route({
  method: 'POST',
  path: '/v1/webhooks',
  access,
  summary: 'Have events sent to an address; the secret is in this response and at its own address alone',
  body: CreateWebhookBodySchema,
  answers: { 201: CreatedWebhookSchema },
});
export const listWebhooksRoute = route({
  method: 'GET',
  path: '/v1/webhooks',
  access,
  summary: "The tenant's webhooks, newest first",
  query: WebhooksQuerySchema,
  answers: { 200: WebhookListSchema },
});
export const fetchWebhookRoute = route({
  method: 'GET',
  path: '/v1/webhooks/:id',
  access,
  summary: 'A webhook',
  params: IdParamsSchema,
  answers: { 200: WebhookSchema },
});
export const updateWebhookRoute = route({
  method: 'PATCH',
  path: '/v1/webhooks/:id',
  access,
  summary: 'Change a webhook: what is not in the body stays as it is',
  params: IdParamsSchema,
  body: UpdateWebhookBodySchema,
  answers: { 200: WebhookSchema },
});
export const deleteWebhookRoute = route({
  method: 'DELETE',
  path: '/v1/webhooks/:id',
  access,
  summary: 'Delete a webhook: what was still to be sent is cancelled',
  params: IdParamsSchema,
  answers: { 204: null },
});
export const webhookSecretRoute = route({
  method: 'GET',
  path: '/v1/webhooks/:id/secret',
  access,
  summary: 'The newest secret of a webhook',
  params: IdParamsSchema,
  answers: { 200: WebhookSecretSchema },
});
export const rotateSecretRoute = route({
  method: 'POST',
  path: '/v1/webhooks/:id/rotate-secret',
  access,
  summary: 'Make a new secret; the one before signs as well for a while',
  params: IdParamsSchema,
  body: RotateSecretBodySchema,
  answers: { 200: RotatedSecretSchema },
});
export const testWebhookRoute = route({
  method: 'POST',
  path: '/v1/webhooks/:id/test',
  access,
  summary: 'Send a message of type webhook.test, whatever the webhook wants',
  params: IdParamsSchema,
  body: NoBodySchema,
  answers: { 202: DeliverySchema },
});
export const replayWebhookRoute = route({
  method: 'POST',
  path: '/v1/webhooks/:id/replay',
  access,
  summary: 'Send deliveries of a time again, with their ids and bytes',
  params: IdParamsSchema,
  body: ReplayBodySchema,
  answers: { 202: ReplayedSchema },
});
export const listDeliveriesRoute = route({
  method: 'GET',
  path: '/v1/webhooks/:id/deliveries',
  access,
  summary: 'What was sent to a webhook and is to be, newest first',
  params: IdParamsSchema,
  query: DeliveriesQuerySchema,
  answers: { 200: DeliveryListSchema },
});
export const fetchDeliveryRoute = route({
  method: 'GET',
  path: '/v1/webhook-deliveries/:id',
  access,
  summary: 'A delivery with its attempts',
  params: IdParamsSchema,
  answers: { 200: DeliverySchema },
});
export const retryDeliveryRoute = route({
  method: 'POST',
  path: '/v1/webhook-deliveries/:id/retry',
  access,
  summary: 'Send a delivery once more, at once',
  params: IdParamsSchema,
  body: NoBodySchema,
  answers: { 202: DeliverySchema },
});
