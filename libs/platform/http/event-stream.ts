import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';

const HEARTBEAT_MS = 15_000;
const RETRY_MS = 1_000;
/** A client that reads more slowly than this fills up is cut off: it resumes by `Last-Event-ID`. */
const BACKLOG_MAX_BYTES = 4 * 1024 * 1024;

export interface StreamMessage {
  readonly id: string;
  readonly event?: string;
  /** One line: JSON. */
  readonly data: string;
}

/** A response of server-sent events (WHATWG HTML, section 9.2), with heartbeats, until one side ends it. */
export class EventStream {
  readonly #response: ServerResponse;
  readonly #heartbeat: NodeJS.Timeout;

  /** Takes the response over from Fastify. */
  constructor(reply: FastifyReply) {
    reply.hijack();
    this.#response = reply.raw;
    this.#response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-request-id': reply.request.id,
    });
    this.#response.write(`retry: ${RETRY_MS}\n\n`);
    this.#heartbeat = setInterval(() => this.#write(': still here\n\n'), HEARTBEAT_MS);
    this.#heartbeat.unref();
    this.closed(() => clearInterval(this.#heartbeat));
  }

  get open(): boolean {
    return !this.#response.destroyed && !this.#response.writableEnded;
  }

  send({ id, event, data }: StreamMessage): void {
    this.#write(`id: ${id}\n${event === undefined ? '' : `event: ${event}\n`}data: ${data}\n\n`);
  }

  /** Resolves when the client has taken what was sent, or is gone. */
  async drained(): Promise<void> {
    if (!this.open || !this.#response.writableNeedDrain) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        this.#response.off('drain', done).off('close', done);
        resolve();
      };
      this.#response.on('drain', done).on('close', done);
    });
  }

  /** Calls `listener` once, when the stream has ended for whatever reason. */
  closed(listener: () => void): void {
    this.#response.once('close', listener);
  }

  end(): void {
    if (this.open) this.#response.end();
  }

  #write(text: string): void {
    if (!this.open) return;
    this.#response.write(text);
    if (this.#response.writableLength > BACKLOG_MAX_BYTES) this.#response.destroy();
  }
}
