import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import {
  type CreateWebhookBody,
  type DeliveriesQuery,
  type Delivery,
  type Principal,
  type ReplayBody,
  type UpdateWebhookBody,
  WEBHOOK_TEST,
  type Webhook,
} from '#contracts';
import {
  decodeCursor,
  encodeCursor,
  findResult,
  type IdempotentRequest,
  inTransaction,
  invalid,
  type Logger,
  notFound,
  Problem,
  RequestsInProgress,
  rememberResult,
} from '#platform';
import { bodyOf, fanOut } from './fan-out.js';
import { type SecretBox, SecretUnreadable } from './secret-box.js';
import type { AddressPolicy } from './sending/address-policy.js';
import { newKeyPair, newWebhookSecret } from './sending/signature.js';
import type { DeliveryStore } from './store/deliveries.js';
import type { SealedKeyPair, WebhookStore } from './store/webhooks.js';

export interface WebhookParts {
  readonly pool: pg.Pool;
  readonly webhooks: WebhookStore;
  readonly deliveries: DeliveryStore;
  readonly box: SecretBox;
  readonly policy: AddressPolicy;
  readonly logger: Logger;
  /** Called when there is something new to send. */
  readonly made: () => void;
}

/** Who asks for something, and the Idempotency-Key, if any. */
export interface WebhookRequest {
  readonly principal: Principal;
  readonly idempotent: IdempotentRequest | undefined;
}

/** What came of a request, and whether that was an earlier one with the same key. */
export interface Outcome<Result> {
  readonly result: Result;
  readonly replayed: boolean;
}

export interface Page<Item> {
  readonly data: readonly Item[];
  readonly nextCursor: string | null;
}

/** Webhooks and their deliveries, of one tenant each. */
export class WebhookService {
  readonly #inProgress = new RequestsInProgress();

  constructor(private readonly parts: WebhookParts) {}

  async create(
    body: CreateWebhookBody,
    request: WebhookRequest,
  ): Promise<Outcome<Webhook & { secret: string }>> {
    this.#checkUrl(body.url);
    return await this.#once(request, async (client) => {
      const { webhooks, box } = this.parts;
      const secret = newWebhookSecret();
      const keys = body.ed25519 ? this.#newKeys() : undefined;
      const webhook = await webhooks.insert(client, request.principal.tenant, body, keys);
      await webhooks.addSecret(client, webhook.id, box.seal(secret));
      return { ...webhook, secret };
    });
  }

  async see({ tenant }: Principal, id: string): Promise<Webhook> {
    const webhook = await this.parts.webhooks.find(tenant, id);
    if (webhook === undefined) throw notFound('webhook');
    return webhook;
  }

  async list(
    { tenant }: Principal,
    query: { limit: number; cursor?: string | undefined },
  ): Promise<Page<Webhook>> {
    const filters = ['webhooks', tenant];
    const before = query.cursor === undefined ? undefined : decodeCursor(query.cursor, filters);
    return pageOf(await this.parts.webhooks.list(tenant, before, query.limit + 1), query.limit, filters);
  }

  async update({ tenant }: Principal, id: string, change: UpdateWebhookBody): Promise<Webhook> {
    if (change.url !== undefined) this.#checkUrl(change.url);
    const { pool, webhooks, made } = this.parts;
    const updated = await inTransaction(pool, (client) =>
      webhooks.update(client, [tenant, id], change, () => this.#newKeys()),
    );
    if (updated === undefined) throw notFound('webhook');
    made();
    return updated;
  }

  async delete({ tenant }: Principal, id: string): Promise<void> {
    const { pool, webhooks } = this.parts;
    if (!(await inTransaction(pool, (client) => webhooks.delete(client, tenant, id))))
      throw notFound('webhook');
  }

  async secret(principal: Principal, id: string): Promise<{ secret: string }> {
    await this.see(principal, id);
    const sealed = await this.parts.webhooks.secret(id);
    if (sealed === undefined) throw notFound('webhook');
    return { secret: this.#open(sealed) };
  }

  async rotateSecret(
    id: string,
    overlapSeconds: number,
    request: WebhookRequest,
  ): Promise<Outcome<{ secret: string; previousUntil: string }>> {
    return await this.#once(request, async (client) => {
      const { webhooks, box } = this.parts;
      // Locks it, so that of two rotations one comes after the other.
      const webhook = await webhooks.update(client, [request.principal.tenant, id], {}, () =>
        this.#newKeys(),
      );
      if (webhook === undefined) throw notFound('webhook');
      const previousUntil = await webhooks.limitSecrets(client, id, overlapSeconds);
      const secret = newWebhookSecret();
      await webhooks.addSecret(client, id, box.seal(secret));
      return { secret, previousUntil };
    });
  }

  /** Sends a message of its own type, past the filter. */
  async test(id: string, request: WebhookRequest): Promise<Outcome<Delivery>> {
    const { tenant } = request.principal;
    const outcome = await this.#once(request, async (client) => {
      const { deliveries } = this.parts;
      await this.#holdEnabled(client, tenant, id);
      const at = new Date().toISOString();
      const body = bodyOf({ type: WEBHOOK_TEST, at, data: JSON.stringify({ webhook: id }) });
      const test = { webhook: id, tenant, event: randomUUID(), type: WEBHOOK_TEST, body };
      const delivery = await deliveries.find(tenant, await deliveries.insertTest(client, test), client);
      return delivery as Delivery;
    });
    this.parts.made();
    return outcome;
  }

  async deliveries(principal: Principal, id: string, query: DeliveriesQuery): Promise<Page<Delivery>> {
    await this.see(principal, id);
    const filters = ['deliveries', id, query.status, query.event];
    const before = query.cursor === undefined ? undefined : decodeCursor(query.cursor, filters);
    const page = { before, limit: query.limit + 1 };
    return pageOf(
      await this.parts.deliveries.list([principal.tenant, id], query, page),
      query.limit,
      filters,
    );
  }

  async delivery({ tenant }: Principal, id: string): Promise<Delivery> {
    const delivery = await this.parts.deliveries.find(tenant, id);
    if (delivery === undefined) throw notFound('delivery');
    return delivery;
  }

  /** Has a delivery sent once more, whatever its state. */
  async retry(id: string, request: WebhookRequest): Promise<Outcome<Delivery>> {
    const { tenant } = request.principal;
    const outcome = await this.#once(request, async (client) => {
      const { webhooks, deliveries } = this.parts;
      const of = await deliveries.webhookOf(client, tenant, id);
      if (of === undefined) throw notFound('delivery');
      const webhook = await webhooks.hold(client, tenant, of);
      if (webhook === undefined) throw deleted();
      if (!webhook.enabled) throw disabled();
      if (!(await deliveries.retry(client, tenant, id))) throw deleted();
      return (await deliveries.find(tenant, id, client)) as Delivery;
    });
    this.parts.made();
    return outcome;
  }

  /** Begins the schedule of deliveries that were made anew: with their ids and their bytes. */
  async replay(id: string, body: ReplayBody, request: WebhookRequest): Promise<Outcome<{ queued: number }>> {
    const outcome = await this.#once(request, async (client) => {
      await this.#holdEnabled(client, request.principal.tenant, id);
      return { queued: await this.parts.deliveries.replay(client, id, body) };
    });
    this.parts.made();
    return outcome;
  }

  /** Takes a webhook out of service, once, and tells those that want to know of it. */
  async disable(id: string, reason: 'gone' | 'failing'): Promise<void> {
    const { pool, webhooks, logger, made } = this.parts;
    await inTransaction(pool, async (client) => {
      const found = await webhooks.disable(client, id, reason);
      if (found === undefined) return;
      const { tenant, webhook } = found;
      logger.warn({ tenant, webhook: id, reason }, 'a webhook was disabled');
      // What it is sent with may be nobody else's business.
      const data = JSON.stringify({ ...webhook, headers: {} });
      const at = webhook.disabledAt ?? new Date().toISOString();
      await fanOut(client, [
        { id: randomUUID(), tenant, position: null, type: 'webhook.disabled', at, data },
      ]);
    });
    made();
  }

  /** Does something in a transaction, together with what its Idempotency-Key remembers of it: sealed, since it may be secret. */
  async #once<Result>(
    { idempotent }: WebhookRequest,
    work: (client: pg.PoolClient) => Promise<Result>,
  ): Promise<Outcome<Result>> {
    const { pool, box } = this.parts;
    if (idempotent === undefined) return { result: await inTransaction(pool, work), replayed: false };
    const again = async (): Promise<Outcome<Result> | undefined> => {
      const sealed = await findResult(pool, idempotent);
      if (sealed === undefined) return undefined;
      return { result: JSON.parse(this.#open(Buffer.from(sealed, 'base64'))) as Result, replayed: true };
    };
    return await this.#inProgress.run(idempotent, async () => {
      const before = await again();
      if (before !== undefined) return before;
      try {
        const result = await inTransaction(pool, async (client) => {
          const done = await work(client);
          const sealed = box.seal(JSON.stringify(done)).toString('base64');
          if (!(await rememberResult(client, idempotent, sealed))) throw new DoneMeanwhile();
          return done;
        });
        return { result, replayed: false };
      } catch (error) {
        const meanwhile = error instanceof DoneMeanwhile ? await again() : undefined;
        if (meanwhile === undefined) throw error;
        return meanwhile;
      }
    });
  }

  async #holdEnabled(client: pg.PoolClient, tenant: string, id: string): Promise<void> {
    const webhook = await this.parts.webhooks.hold(client, tenant, id);
    if (webhook === undefined) throw notFound('webhook');
    if (!webhook.enabled) throw disabled();
  }

  #open(sealed: Buffer): string {
    try {
      return this.parts.box.open(sealed);
    } catch (error) {
      if (!(error instanceof SecretUnreadable)) throw error;
      const detail =
        'it was encrypted with another WEBHOOKS_SECRET_KEY than the present one: rotate the secret';
      throw new Problem({ status: 409, code: 'secret_unreadable', detail });
    }
  }

  #checkUrl(url: string): void {
    const refusal = this.parts.policy.refusalOf(new URL(url).hostname);
    if (refusal === undefined) return;
    throw invalid([{ path: 'url', message: `must be reachable by everybody: ${refusal}` }]);
  }

  #newKeys(): SealedKeyPair {
    const { privateKey, publicKey } = newKeyPair();
    return { sealed: this.parts.box.seal(privateKey), publicKey };
  }
}

/** Another process has done it at the same time, under the same key. */
class DoneMeanwhile extends Error {}

function pageOf<Item extends { readonly id: string }>(
  items: readonly Item[],
  limit: number,
  filters: readonly unknown[],
): Page<Item> {
  const data = items.slice(0, limit);
  const last = data.at(-1);
  return { data, nextCursor: items.length > limit && last ? encodeCursor(last.id, filters) : null };
}

function disabled(): Problem {
  const detail = 'the webhook is disabled: enable it first, with {"enabled": true}';
  return new Problem({ status: 409, code: 'webhook_disabled', detail });
}

function deleted(): Problem {
  const detail = 'the webhook of this delivery was deleted: it is sent no more';
  return new Problem({ status: 409, code: 'delivery_cancelled', detail });
}
