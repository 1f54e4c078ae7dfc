import { expect } from '@jest/globals';
import { eventually } from '../eventually.js';
import type { Caller } from '../settled-process.js';
import type { House } from './house.js';

export interface Message<T> {
  readonly event: string;
  readonly id: string;
  readonly data: T;
}

/** One open connection to an event stream (text/event-stream). It keeps what has come. */
export class EventStream<T> {
  readonly messages: Message<T>[] = [];
  ended = false;
  readonly #controller = new AbortController();
  #finished: Promise<void> = Promise.resolve();

  static async open<T>(
    house: Pick<House, 'get'>,
    path: string,
    caller: Caller,
    headers: Record<string, string> = {},
  ): Promise<EventStream<T>> {
    const stream = new EventStream<T>();
    const response = await house.get(path, caller, {
      headers: { accept: 'text/event-stream', ...headers },
      signal: stream.#controller.signal,
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream\b/);
    stream.#finished = stream.#read(response);
    return stream;
  }

  /** The id that a client would resume from. */
  get lastEventId(): string {
    return this.messages.findLast(({ id }) => id !== '')?.id ?? '';
  }

  /** Waits until that many messages have come and returns them all. */
  async first(count: number): Promise<readonly Message<T>[]> {
    await eventually(() => this.messages.length >= count);
    return this.messages;
  }

  async until(condition: (messages: readonly Message<T>[]) => boolean): Promise<readonly Message<T>[]> {
    await eventually(() => condition(this.messages));
    return this.messages;
  }

  /** Waits until the server has ended the stream. */
  async end(): Promise<void> {
    await eventually(() => this.ended);
  }

  async close(): Promise<void> {
    this.#controller.abort();
    await this.#finished;
  }

  async #read(response: Response): Promise<void> {
    let pending = '';
    const decoder = new TextDecoder();
    try {
      for await (const bytes of response.body ?? []) {
        pending += decoder.decode(bytes, { stream: true });
        const blocks = pending.split(/\r?\n\r?\n/);
        pending = blocks.pop() ?? '';
        for (const block of blocks) this.#keep(block);
      }
    } catch {
      // Cut off: by the caller, or because the server went away.
    }
    this.ended = true;
  }

  #keep(block: string): void {
    const fields = new Map<string, string>();
    for (const line of block.split(/\r?\n/)) {
      const [, name, value] = /^(\w+): ?(.*)$/.exec(line) ?? [];
      if (name !== undefined)
        fields.set(name, name === 'data' ? `${fields.get('data') ?? ''}${value}` : (value ?? ''));
    }
    const data = fields.get('data');
    if (data === undefined) return;
    this.messages.push({
      event: fields.get('event') ?? 'message',
      id: fields.get('id') ?? '',
      data: JSON.parse(data) as T,
    });
  }
}
