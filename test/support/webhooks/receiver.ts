import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

export interface Received {
  readonly id: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly type: string;
  readonly data: { readonly id: string; readonly state: string };
  /** By `performance.now()`. */
  readonly at: number;
}

export type Answering = (received: Received, response: ServerResponse) => void;

const fine: Answering = (_received, response) => {
  response.end();
};

/** Somebody's endpoint: notes what comes and answers as it is told. */
export class Receiver {
  readonly received: Received[] = [];
  answer: Answering = fine;

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async start(address = '127.0.0.1'): Promise<Receiver> {
    const server = createServer();
    await new Promise<void>((resolve) => {
      server.listen(0, address, resolve);
    });
    const { port } = server.address() as AddressInfo;
    const receiver = new Receiver(server, `http://${address}:${port}/hook`);
    server.on('request', async (request, response) => {
      const body = await text(request);
      const { type, data } = JSON.parse(body) as Pick<Received, 'type' | 'data'>;
      const { headers, url: path = '' } = request;
      const id = String(headers['webhook-id']);
      const received = { id, path, headers, body, type, data, at: performance.now() };
      receiver.received.push(received);
      receiver.answer(received, response);
    });
    return receiver;
  }

  get ids(): string[] {
    return this.received.map(({ id }) => id);
  }

  get types(): string[] {
    return this.received.map(({ type }) => type);
  }

  /** Fails when the official library does not accept what came. */
  verify({ body, headers }: Received, secret: string): void {
    new Webhook(secret).verify(body, headers as Record<string, string>);
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}

export function answering(status: number, headers: Record<string, string> = {}): Answering {
  return (_received, response) => {
    response.writeHead(status, headers).end(`answered ${status}`);
  };
}
