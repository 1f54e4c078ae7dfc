import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';

/** Of a response: what is read at most, and what of it is kept. */
const READ_MAX_BYTES = 64 * 1024;
const KEPT_BYTES = 4 * 1024;

/** What of a response there is to keep. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The beginning of the body, as it came: nothing is inflated. */
  readonly beginning: Buffer;
}

/** The deadline of an exchange has passed. */
export class DeadlinePassed extends Error {
  override readonly name = 'DeadlinePassed';

  /** `status` is null when the response had not begun. */
  constructor(readonly status: number | null) {
    super('the exchange took too long');
  }
}

/** The status had come, and then the connection broke. */
export class BrokenResponse extends Error {
  override readonly name = 'BrokenResponse';

  constructor(
    readonly status: number,
    cause: Error,
  ) {
    super(cause.message, { cause });
  }
}

/**
 * Sends a request and reads its response, to the end or as far as it is worth it: the connection of a longer one is given up.
 * All of it, from connecting on, is over after `timeoutMs`. Rejects with what went wrong.
 */
export function exchange(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  timeoutMs: number,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    dispatcher.dispatch(request, new Exchange(timeoutMs, resolve, reject));
  });
}

class Exchange implements Dispatcher.DispatchHandler {
  readonly #timer: NodeJS.Timeout;
  readonly #chunks: Buffer[] = [];
  #controller: Dispatcher.DispatchController | undefined;
  #over: Error | undefined;
  #status: number | null = null;
  #headers: IncomingHttpHeaders = {};
  #bytes = 0;

  constructor(
    timeoutMs: number,
    private readonly resolve: (answer: Answer) => void,
    private readonly reject: (error: Error) => void,
  ) {
    this.#timer = setTimeout(() => this.#fail(new DeadlinePassed(this.#status)), timeoutMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // What is over before it had a connection is not sent.
    if (this.#over !== undefined) controller.abort(this.#over);
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    // What comes before the response (RFC 9110, section 15.2) is none.
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#bytes < KEPT_BYTES) this.#chunks.push(chunk.subarray(0, KEPT_BYTES - this.#bytes));
    this.#bytes += chunk.length;
    if (this.#bytes <= READ_MAX_BYTES) return;
    this.#succeed();
    this.#controller?.abort(new Error('nobody reads further'));
  }

  onResponseEnd(): void {
    this.#succeed();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#fail(this.#status === null ? error : new BrokenResponse(this.#status, error));
  }

  #succeed(): void {
    clearTimeout(this.#timer);
    this.resolve({
      status: this.#status as number,
      headers: this.#headers,
      beginning: Buffer.concat(this.#chunks),
    });
  }

  #fail(error: Error): void {
    clearTimeout(this.#timer);
    this.#over = error;
    this.reject(error);
    this.#controller?.abort(error);
  }
}
