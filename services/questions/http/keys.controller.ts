import { Controller, Inject, Req, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Handles, idempotentRequest, notFound, type RequestOf } from '#platform';
import { KeyService } from '../key.service.js';
import { createKeyRoute, listKeysRoute, revokeKeyRoute } from './routes.js';

@Controller()
export class KeysController {
  constructor(@Inject(KeyService) private readonly keys: KeyService) {}

  @Handles(createKeyRoute)
  async create(
    @Req() request: RequestOf<typeof createKeyRoute>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { principal, input, idempotencyKey: key } = request;
    const { path: route } = createKeyRoute;
    const idempotent =
      key === undefined ? undefined : idempotentRequest({ principal, route, key, body: request.body });
    const authorization = request.headers.authorization ?? '';
    const { created, replayed } = await this.keys.create(input.body, {
      principal,
      authorization,
      idempotent,
    });
    if (replayed) reply.header('idempotency-replayed', 'true');
    return created;
  }

  @Handles(listKeysRoute)
  async list(@Req() { principal }: RequestOf<typeof listKeysRoute>) {
    return { data: await this.keys.list(principal) };
  }

  @Handles(revokeKeyRoute)
  async revoke(@Req() { principal, input }: RequestOf<typeof revokeKeyRoute>) {
    if (!(await this.keys.revoke(principal, input.params.id))) throw notFound('key');
  }
}
