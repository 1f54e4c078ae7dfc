import type { LookupAddress } from 'node:dns';
import { lookup, Resolver } from 'node:dns/promises';
import pLimit from 'p-limit';

const TIMEOUT_MS = 2_000;
const TRIES = 2;

export type Resolve = (name: string) => Promise<readonly LookupAddress[]>;

/**
 * Finds the addresses of names. Name servers are asked directly: asking through the system (`getaddrinfo`) takes one of four
 * threads for as long as it lasts, so that one name whose servers are silent would hold up all others. What the servers do
 * not know may stand in the hosts file, and only the system knows that: it is asked a few names at a time, and those whose
 * servers are silent have a place of their own.
 */
export class NameResolver {
  readonly #servers = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
  readonly #unknown = pLimit(2);
  readonly #silent = pLimit(1);
  readonly #asking = new Map<string, ReturnType<Resolve>>();

  /** `servers`: other name servers than the system's, as `address:port`. */
  constructor(servers?: readonly string[]) {
    if (servers !== undefined) this.#servers.setServers(servers);
  }

  /** Rejects with an Error that has a `code`. Who asks for a name that is being asked for shares the answer. */
  readonly resolve: Resolve = (name) => {
    const asking = this.#asking.get(name) ?? this.#ask(name).finally(() => this.#asking.delete(name));
    this.#asking.set(name, asking);
    return asking;
  };

  async #ask(name: string): Promise<readonly LookupAddress[]> {
    const answers = await Promise.allSettled([
      this.#servers.resolve4(name).then((found) => found.map((address) => ({ address, family: 4 }))),
      this.#servers.resolve6(name).then((found) => found.map((address) => ({ address, family: 6 }))),
    ]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (addresses.length > 0) return addresses;
    const silent = answers.some(
      (answer) => answer.status === 'rejected' && answer.reason.code === 'ETIMEOUT',
    );
    return await (silent ? this.#silent : this.#unknown)(() => lookup(name, { all: true }));
  }
}
