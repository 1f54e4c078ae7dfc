import { createServer } from 'node:http';

/** A receiver of webhooks in this process, that is well. */
export class Sink {
  /** Called with the text of each body that comes, when the last byte of it was here, and with the headers. */
  onMessage = () => {};

  constructor() {
    this.server = createServer((request, response) => this.#serve(request, response));
  }

  static async start() {
    const sink = new Sink();
    await new Promise((resolve) => sink.server.listen(0, '127.0.0.1', resolve));
    sink.url = `http://127.0.0.1:${sink.server.address().port}/`;
    return sink;
  }

  #serve(request, response) {
    const chunks = [];
    request.on('error', () => {});
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const receivedAt = performance.now();
      response.end();
      this.onMessage(Buffer.concat(chunks).toString(), receivedAt, request.headers);
    });
  }

  stop() {
    this.server.closeAllConnections();
    this.server.close();
  }
}
