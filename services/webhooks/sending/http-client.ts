import type { LookupFunction } from 'node:net';
import { Agent, buildConnector } from 'undici';
import type { AddressPolicy } from './address-policy.js';
import { NameResolver, type Resolve } from './name-resolver.js';

const KEEP_ALIVE_MS = 10_000;

type Judge = Pick<AddressPolicy, 'permits' | 'refusalOf'>;

/** No connection was made, or the one that was made is not used: the address is none that webhooks may reach. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
}

/**
 * Connections to receivers, kept alive and used again. The name of a host is resolved once for each connection, every
 * answer is judged, and the connection goes to the answers that were judged; when it is made its peer is judged again.
 * An address that stands in the URL itself is not looked up, so that is judged first.
 */
export function httpClient(
  policy: Judge,
  timeoutMs: number,
  resolve: Resolve = new NameResolver().resolve,
): Agent {
  const connectorOptions: buildConnector.BuildOptions & { lookup: LookupFunction } = {
    timeout: timeoutMs,
    lookup: judgedLookup(policy, resolve),
  };
  const connect = buildConnector(connectorOptions);
  return new Agent({
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    connect: (options, callback) => {
      const refusal = policy.refusalOf(options.hostname);
      if (refusal !== undefined) return callback(new AddressRefused(refusal), null);
      connect(options, (...[error, socket]) => {
        if (!socket) return callback(error ?? new Error('there is no connection'), null);
        const peer = socket.remoteAddress ?? '';
        if (policy.permits(peer)) return callback(null, socket);
        socket.destroy();
        callback(new AddressRefused(`${options.hostname} leads to ${peer}`), null);
      });
    },
  });
}

/** Resolves a name to what may be reached of it: one answer that may not is enough to refuse them all. */
function judgedLookup(policy: Judge, resolve: Resolve): LookupFunction {
  const judged = async (hostname: string) => {
    const addresses = await resolve(hostname);
    const refused = addresses.find(({ address }) => !policy.permits(address));
    if (refused !== undefined) throw new AddressRefused(`${hostname} is at ${refused.address}`);
    return [...addresses];
  };
  return (hostname, options, callback) => {
    judged(hostname).then(
      (addresses) => {
        const [first] = addresses;
        if (options.all) callback(null, addresses);
        else callback(null, first?.address ?? '', first?.family ?? 0);
      },
      (error) => callback(error, [], 0),
    );
  };
}
