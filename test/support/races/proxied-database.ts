import { randomBytes } from 'node:crypto';
import type { TestDatabase } from '../database.js';
import { startProxy, type TcpProxy } from '../tcp-proxy.js';

export interface ProxiedDatabase extends TcpProxy {
  /** The database by way of the proxy. */
  readonly url: string;
  /** The `application_name` of the sessions that come this way. */
  readonly name: string;
}

/** A way to a database that can break, for one process. */
export async function proxyTo(database: TestDatabase): Promise<ProxiedDatabase> {
  const proxy = await startProxy(database);
  const name = `proxied_${randomBytes(4).toString('hex')}`;
  const url = new URL(database.url);
  url.hostname = '127.0.0.1';
  url.port = String(proxy.connection.port);
  url.search = `?application_name=${name}`;
  return Object.assign(proxy, { url: url.href, name });
}
