import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';

/** Of a response: what is read at most, and what of it is kept. */
const READ_MAX_BYTES = 16 * 1024;
const KEPT_BYTES = 4 * 1024;

/** What of a response there is to keep. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The beginning of the body, as it came: nothing is inflated. */
  readonly beginning: Buffer;
}

/** An exchange that has not come to its end; `answer` is what there was of a response by then. */
export class Unfinished extends Error {
  override readonly name = 'Unfinished';

  constructor(
    readonly reason: 'deadline' | 'broken_off' | 'connection',
    readonly answer: Answer | null,
    cause?: Error,
  ) {
    super(cause?.message ?? reason, { cause });
  }
}

/**
 * Sends a request and reads its response, to the end or as far as it is worth it: the connection of a longer one is given up.
 * All of it, from connecting on, is over after `timeoutMs`. Rejects with `Unfinished`. Is in `underWay` as long as it lasts.
 */
export function exchange(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  { timeoutMs, underWay }: { readonly timeoutMs: number; readonly underWay: Set<Exchange> },
): Promise<Answer> {
  const exchange = new Exchange(timeoutMs);
  underWay.add(exchange);
  dispatcher.dispatch(request, exchange);
  return exchange.answer.finally(() => underWay.delete(exchange));
}

/** One request and its response. */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly answer: Promise<Answer>;
  readonly #timer: NodeJS.Timeout;
  readonly #chunks: Buffer[] = [];
  #resolve: (answer: Answer) => void = () => {};
  #reject: (error: Unfinished) => void = () => {};
  #controller: Dispatcher.DispatchController | undefined;
  #over: Unfinished | undefined;
  #status: number | undefined;
  #headers: IncomingHttpHeaders = {};
  #bytes = 0;

  constructor(timeoutMs: number) {
    this.answer = new Promise((resolve, reject) => {
      [this.#resolve, this.#reject] = [resolve, reject];
    });
    this.#timer = setTimeout(() => this.#fail('deadline'), timeoutMs);
  }

  breakOff(): void {
    this.#fail('broken_off');
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
    this.#fail('connection', error);
  }

  #succeed(): void {
    clearTimeout(this.#timer);
    this.#resolve(this.#soFar() as Answer);
  }

  #fail(reason: Unfinished['reason'], cause?: Error): void {
    if (this.#over !== undefined) return;
    clearTimeout(this.#timer);
    this.#over = new Unfinished(reason, this.#soFar(), cause);
    this.#reject(this.#over);
    this.#controller?.abort(this.#over);
  }

  #soFar(): Answer | null {
    if (this.#status === undefined) return null;
    return { status: this.#status, headers: this.#headers, beginning: Buffer.concat(this.#chunks) };
  }
}
