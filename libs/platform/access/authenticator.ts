import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import type { Principal } from '#contracts';
import { unauthenticated } from '../http/problem.js';
import type { TokenVerifier } from './jwt.js';
import { findKey } from './keys.js';
import { AccessRevision } from './revision.js';

const REMEMBERED_MAX = 10_000;
const BEARER = /^Bearer +(\S+) *$/i;

/** Knows who is calling, from keys and, where configured, JWTs. */
export class Authenticator {
  readonly #remembered = new LRUCache<string, Principal>({ max: REMEMBERED_MAX });
  readonly #watchers = new Set<() => void>();
  readonly #revision: AccessRevision;
  #generation = 0;

  constructor(
    private readonly pool: pg.Pool,
    private readonly tokens: TokenVerifier | undefined,
  ) {
    this.#revision = new AccessRevision(pool, () => this.forget());
  }

  /** The principal of an Authorization header that was checked within the lease; else `authenticate` must be asked. */
  remembered(authorization: string | undefined): Principal | undefined {
    if (authorization === undefined || !this.#revision.fresh) return undefined;
    return this.#remembered.get(authorization);
  }

  /** Rejects with a 401 problem for whom it does not know. */
  async authenticate(authorization: string | undefined): Promise<Principal> {
    if (authorization === undefined) throw unauthenticated('this address needs Authorization: Bearer <key>');
    const secret = BEARER.exec(authorization)?.[1];
    if (secret === undefined) throw unauthenticated('the Authorization header must be: Bearer <key>');
    if (this.tokens !== undefined && secret.split('.').length === 3) return await this.tokens.verify(secret);
    await this.#revision.checkAnew();
    const remembered = this.#remembered.get(authorization);
    if (remembered !== undefined) return remembered;
    const generation = this.#generation;
    const owner = await findKey(this.pool, secret);
    if (owner === undefined) throw unauthenticated('this key is not known, or was revoked');
    const principal = { tenant: owner.tenant, subject: owner.subject, scopes: new Set(owner.scopes) };
    // A change that came in between would otherwise be forgotten before this is remembered.
    if (generation === this.#generation) this.#remembered.set(authorization, principal);
    return principal;
  }

  /** Forgets everything at once; watchers (open streams) are told to look again. */
  forget(): void {
    this.#generation += 1;
    this.#remembered.clear();
    for (const watcher of this.#watchers) watcher();
  }

  /** Looks for changes made elsewhere; open streams ask for it from time to time. */
  async check(): Promise<void> {
    await this.#revision.check();
  }

  /** Calls `watcher` whenever keys or memberships may have changed. Returns how to leave. */
  watch(watcher: () => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }
}
