import { createHmac, randomBytes } from 'node:crypto';
import type pg from 'pg';
import { type CreateKeyBody, DEFAULT_TENANT, type Key, type Principal } from '#contracts';
import {
  ACCESS_LEASE_MS,
  type Authenticator,
  findKey,
  findResult,
  type IdempotentRequest,
  insertKey,
  inTransaction,
  KEY_PREFIX,
  listKeys,
  newSecret,
  Problem,
  RequestsInProgress,
  rememberResult,
  revokeKey,
} from '#platform';

const SALT_BYTES = 16;

export interface CreatedKey {
  readonly id: string;
  readonly key: string;
  readonly subject: string;
  readonly scopes: readonly string[];
  readonly tenant: string;
}

/** A request to make a key: who asks, the credential that proves it, and the Idempotency-Key, if any. */
export interface KeyRequest {
  readonly principal: Principal;
  readonly authorization: string;
  readonly idempotent: IdempotentRequest | undefined;
}

/** Keys. Admins of the default tenant run the installation: they manage the keys of every tenant. */
export class KeyService {
  readonly #inProgress = new RequestsInProgress();

  constructor(
    private readonly pool: pg.Pool,
    private readonly authenticator: Authenticator,
  ) {}

  async create(
    body: CreateKeyBody,
    request: KeyRequest,
  ): Promise<{ created: CreatedKey; replayed: boolean }> {
    const { principal, idempotent } = request;
    const tenant = body.tenant ?? principal.tenant;
    if (tenant !== principal.tenant && principal.tenant !== DEFAULT_TENANT) throw otherTenant();
    const wanted = { subject: body.subject, scopes: body.scopes, tenant };
    if (idempotent === undefined) {
      const secret = newSecret();
      return { created: shown(await insertKey(this.pool, secret, wanted), secret), replayed: false };
    }
    return await this.#inProgress.run(idempotent, async () => {
      const salt = randomBytes(SALT_BYTES).toString('base64url');
      const secret = derivedSecret(request.authorization, salt);
      const key = await inTransaction(this.pool, async (client) => {
        return (await rememberResult(client, idempotent, salt))
          ? await insertKey(client, secret, wanted)
          : undefined;
      });
      if (key !== undefined) return { created: shown(key, secret), replayed: false };
      return { created: await this.#again(request, idempotent), replayed: true };
    });
  }

  list({ tenant }: Principal): Promise<Key[]> {
    return listKeys(this.pool, tenant === DEFAULT_TENANT ? null : tenant);
  }

  /** False when there is no such key. When it resolves, no process accepts the key any more. */
  async revoke({ tenant }: Principal, id: string): Promise<boolean> {
    const revoked = await revokeKey(this.pool, id, tenant === DEFAULT_TENANT ? null : tenant);
    if (!revoked) return false;
    this.authenticator.forget();
    await new Promise((resolve) => setTimeout(resolve, ACCESS_LEASE_MS));
    return true;
  }

  async #again({ authorization }: KeyRequest, idempotent: IdempotentRequest): Promise<CreatedKey> {
    const salt = await findResult(this.pool, idempotent);
    const secret = derivedSecret(authorization, salt ?? '');
    const owner = await findKey(this.pool, secret);
    if (owner !== undefined) return shown(owner, secret);
    const detail =
      'the key was made, but only the credential that made it can be shown it again, while it is not revoked';
    throw new Problem({ status: 409, code: 'key_not_shown_again', detail });
  }
}

/**
 * The secret of a key that is made under an Idempotency-Key: a retry must show it again, and nothing that could show it
 * is stored. It is keyed by the credential of the caller, which the database does not have.
 */
function derivedSecret(authorization: string, salt: string): string {
  return KEY_PREFIX + createHmac('sha256', authorization).update(salt).digest('base64url');
}

function shown({ id, subject, scopes, tenant }: Omit<Key, 'createdAt'> | Key, key: string): CreatedKey {
  return { id, key, subject, scopes, tenant };
}

function otherTenant(): Problem {
  const detail = 'only admins of the default tenant make keys for other tenants';
  return new Problem({ status: 403, code: 'not_eligible', detail });
}
