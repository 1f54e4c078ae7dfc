import { createServer } from 'node:http';
import { gzipSync } from 'node:zlib';

const MIB = 1024 * 1024;
const CHUNK = Buffer.alloc(64 * 1024, 'x');
const FLOOD_BYTES = 50 * MIB;
const BOMB = gzipSync(Buffer.alloc(200 * MIB));
const DRIP_EVERY_MS = 1_000;

/** What a sick receiver does with a request, by the path at which it is reached. */
const AILMENTS = {
  hangs: () => {},
  drips: (_request, response) => {
    const timer = setInterval(() => response.write('x'), DRIP_EVERY_MS);
    response.on('close', () => clearInterval(timer));
  },
  floods: (_request, response) => flood(response),
  explodes: (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(BOMB),
  resets: (request) => request.socket.resetAndDestroy(),
  fails: (_request, response) => response.writeHead(500).end('no'),
  'is-busy': (_request, response) => response.writeHead(429, { 'retry-after': '1' }).end(),
  redirects: (_request, response) =>
    response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end(),
};
export const AILING = Object.keys(AILMENTS);

/** Receivers of webhooks in this process: `/fine` takes what comes and notes when, the others ail. */
export class Sink {
  /** Called with the text of each body that comes to `/fine`, and when the last byte of it was here. */
  onMessage = () => {};

  constructor() {
    this.server = createServer((request, response) => this.#serve(request, response));
  }

  static async start() {
    const sink = new Sink();
    await new Promise((resolve) => sink.server.listen(0, '127.0.0.1', resolve));
    sink.origin = `http://127.0.0.1:${sink.server.address().port}`;
    return sink;
  }

  #serve(request, response) {
    const chunks = [];
    request.on('error', () => {});
    response.on('error', () => {});
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const receivedAt = performance.now();
      const ailment = AILMENTS[request.url.slice(1)];
      if (ailment) return ailment(request, response);
      response.end();
      this.onMessage(Buffer.concat(chunks).toString(), receivedAt, request.headers);
    });
  }

  stop() {
    this.server.closeAllConnections();
    this.server.close();
  }
}

/** Writes as fast as it is read. */
function flood(response) {
  let left = FLOOD_BYTES;
  const write = () => {
    while (left > 0 && !response.destroyed) {
      left -= CHUNK.length;
      if (!response.write(CHUNK)) return response.once('drain', write);
    }
    response.end();
  };
  write();
}
