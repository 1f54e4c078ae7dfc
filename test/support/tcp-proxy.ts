import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type pg from 'pg';

export type Direction = 'requests' | 'replies';

export interface TcpProxy {
  /** The settings of the server behind it, by way of the proxy. */
  readonly connection: pg.ClientConfig;
  /** How many connections are open. */
  readonly open: number;
  /** Cuts every open connection; new ones are let through. */
  cut(): void;
  /** Cuts every open connection and lets no new one through until `restore`. */
  refuse(): void;
  /** Holds back what flows in a direction, on open connections and on new ones, until `restore`. */
  freeze(direction: Direction): void;
  restore(): void;
  stop(): Promise<void>;
}

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
}

/**
 * Stands in front of a PostgreSQL (TCP or Unix socket) and is the network that breaks. Where the server is, is asked at
 * every connection: it may move.
 */
export async function startProxy(server: { readonly connection: pg.ClientConfig }): Promise<TcpProxy> {
  const pairs = new Set<Pair>();
  const frozen = new Set<Direction>();
  let refusing = false;

  const listener = createServer((client) => {
    if (refusing) return void client.destroy();
    const pair = { client, server: connectTo(server.connection) };
    pairs.add(pair);
    pump(pair.client, pair.server, () => frozen.has('requests'));
    pump(pair.server, pair.client, () => frozen.has('replies'));
    for (const socket of [pair.client, pair.server]) socket.on('close', () => close(pair));
  });
  const close = (pair: Pair) => {
    pairs.delete(pair);
    pair.client.destroy();
    pair.server.destroy();
  };
  const cut = () => pairs.forEach(close);
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');

  return {
    connection: { ...server.connection, host: '127.0.0.1', port: (listener.address() as AddressInfo).port },
    get open() {
      return pairs.size;
    },
    cut,
    refuse: () => {
      refusing = true;
      cut();
    },
    freeze: (direction) => void frozen.add(direction),
    restore: () => {
      refusing = false;
      frozen.clear();
      for (const { client, server } of pairs) for (const socket of [client, server]) socket.emit('thaw');
    },
    stop: async () => {
      cut();
      listener.close();
      await once(listener, 'close');
    },
  };
}

function connectTo({ host, port }: pg.ClientConfig): Socket {
  if (host?.startsWith('/')) return connect({ path: `${host}/.s.PGSQL.${port}` });
  return connect({ host: host ?? 'localhost', port: port ?? 5432 });
}

function pump(from: Socket, to: Socket, isFrozen: () => boolean): void {
  let held: Buffer[] = [];
  from.on('data', (bytes) => {
    if (isFrozen()) held.push(bytes);
    else to.write(bytes);
  });
  from.on('thaw', () => {
    for (const bytes of held) to.write(bytes);
    held = [];
  });
  // A broken connection is what this is for.
  from.on('error', () => {});
}
