import { createServer } from 'node:http';
import { gzipSync } from 'node:zlib';
import { onTermination } from '../on-termination.mjs';

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

const server = createServer((request, response) => {
  request.on('error', () => {});
  response.on('error', () => {});
  request.on('end', () => AILMENTS[request.url.slice(1)](request, response));
  request.resume();
});

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

onTermination(() => server.closeAllConnections());
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address();
  console.log(
    `ready ${Object.keys(AILMENTS)
      .map((name) => `http://127.0.0.1:${port}/${name}`)
      .join(' ')}`,
  );
});
