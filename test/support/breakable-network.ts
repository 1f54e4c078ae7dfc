import { connect, type Socket } from 'node:net';
import type { ISocketFactory } from 'kafkajs';

/** The network of one Kafka client, which a test breaks. */
export class BreakableNetwork {
  readonly #sockets = new Set<Socket>();
  #refusing = false;

  /** For the settings of the client. */
  readonly socketFactory: ISocketFactory = ({ host, port, onConnect }) => {
    const socket = connect({ host, port }, onConnect);
    if (this.#refusing) process.nextTick(() => socket.destroy(refused()));
    this.#sockets.add(socket);
    return socket.once('close', () => this.#sockets.delete(socket));
  };

  /** Cuts every open connection and lets no new one through until `restore`. */
  refuse(): void {
    this.#refusing = true;
    for (const socket of this.#sockets) socket.destroy(refused());
  }

  restore(): void {
    this.#refusing = false;
  }
}

function refused(): Error {
  return Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
}
