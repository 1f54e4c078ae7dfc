import { Client } from 'undici';
import { CLOSE_TIMEOUT_MS, CONNECT_TIMEOUT_MS, KEEP_ALIVE_MS, RESPONSE_TIMEOUT_MS } from '../limits.mjs';

const NOTHING = Buffer.alloc(0);

/** One kept-alive connection that carries one request at a time. */
export function connectionTo(origin) {
  return new Client(origin, {
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    headersTimeout: RESPONSE_TIMEOUT_MS,
    bodyTimeout: RESPONSE_TIMEOUT_MS,
    connect: { timeout: CONNECT_TIMEOUT_MS },
  });
}

/**
 * Sends a request and resolves with `{status, body, receivedAt}` when the last byte of the response is here;
 * `receivedAt` is read then, before anything else gets to run.
 * Uses the dispatcher itself: the client shares the machine's cores with the servers, so it has to be cheap.
 */
export function exchange(connection, request) {
  return new Promise((resolve, reject) => {
    connection.dispatch(request, new Exchange(resolve, reject));
  });
}

class Exchange {
  #resolve;
  #reject;
  #status = 0;
  #body = NOTHING;

  constructor(resolve, reject) {
    this.#resolve = resolve;
    this.#reject = reject;
  }

  onConnect() {}

  onHeaders(status) {
    this.#status = status;
    return true;
  }

  onData(chunk) {
    this.#body = this.#body === NOTHING ? chunk : Buffer.concat([this.#body, chunk]);
    return true;
  }

  onComplete() {
    this.#resolve({ status: this.#status, body: this.#body, receivedAt: performance.now() });
  }

  onError(error) {
    this.#reject(error);
  }
}

/** Gives open requests a moment to end, then cuts. */
export async function closeConnection(connection) {
  const timer = setTimeout(() => connection.destroy(), CLOSE_TIMEOUT_MS);
  await connection.close().catch(() => {});
  clearTimeout(timer);
}

/** The response's JSON; throws when the status is another one. */
export function jsonOf(response, status) {
  expectStatus(response, status);
  return JSON.parse(response.body.toString());
}

export function expectStatus(response, status) {
  if (response.status === status) return;
  throw new Error(`expected ${status}, got ${response.status}: ${response.body.toString().slice(0, 500)}`);
}
