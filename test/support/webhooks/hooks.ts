import type { Delivery, Webhook } from '#contracts';
import { House, successful } from '../journeys/house.js';
import type { Caller } from '../settled-process.js';

export type Created = Webhook & { readonly secret: string };

/** Fast, and allowed to reach this machine. */
export const EAGER = {
  WEBHOOKS_ALLOW_PRIVATE: '127.0.0.0/8',
  WEBHOOKS_RETRY_SCHEDULE: '0.1,0.1,0.1',
  WEBHOOKS_TIMEOUT_MS: '1000',
  LOG_LEVEL: 'silent',
};

/** A running Settled and somebody who may manage webhooks. */
export class Hooks {
  private constructor(
    readonly house: House,
    readonly manager: Caller,
  ) {}

  static async open(environment: Record<string, string> = {}): Promise<Hooks> {
    const house = await House.open({ ...EAGER, ...environment });
    return new Hooks(house, await house.server.key('user:platform', ['webhooks']));
  }

  close(): Promise<void> {
    return this.house.close();
  }

  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response> {
    const options = {
      key: this.manager.key,
      ...(body !== undefined && { body }),
      ...(headers && { headers }),
    };
    return this.house.server.call(method, path, options);
  }

  async create(url: string, change: object = {}): Promise<Created> {
    return await successful<Created>(await this.call('POST', '/v1/webhooks', { url, ...change }), 201);
  }

  async see(id: string): Promise<Webhook> {
    return await successful<Webhook>(await this.call('GET', `/v1/webhooks/${id}`));
  }

  async update(id: string, change: object): Promise<Webhook> {
    return await successful<Webhook>(await this.call('PATCH', `/v1/webhooks/${id}`, change));
  }

  async delivery(id: string): Promise<Delivery> {
    return await successful<Delivery>(await this.call('GET', `/v1/webhook-deliveries/${id}`));
  }

  async deliveries(id: string, query = ''): Promise<Delivery[]> {
    const response = await this.call('GET', `/v1/webhooks/${id}/deliveries${query}`);
    return (await successful<{ data: Delivery[] }>(response)).data;
  }

  /** Asks and answers; returns the question's id. */
  async settle(change: object = {}): Promise<string> {
    const { id } = await this.house.ask({ ...change });
    await this.house.answer(id);
    return id;
  }
}
