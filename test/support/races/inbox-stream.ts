import type { Envelope } from '#contracts';
import { eventually } from '../eventually.js';
import type { Participant } from './participant.js';

export interface InboxMessage {
  readonly event: string;
  readonly question: Envelope;
}

/** An open inbox: what it was told so far, in order. */
export class InboxStream {
  readonly messages: InboxMessage[] = [];
  #ended = false;
  readonly #leave = new AbortController();

  /** Opens the inbox of somebody; resolves when the first byte is there. */
  static async open(person: Participant): Promise<InboxStream> {
    const stream = new InboxStream();
    const response = await person.send('GET', '/v1/inbox', { signal: stream.#leave.signal });
    if (response.status !== 200 || response.body === null) throw new Error(`no inbox: ${response.status}`);
    void stream.#read(response.body);
    return stream;
  }

  /** Whether the server has ended it. */
  get ended(): boolean {
    return this.#ended;
  }

  /** How many messages of a kind tell of a question. */
  count(event: string, id: string): number {
    return this.messages.filter((message) => message.event === event && message.question.id === id).length;
  }

  /** Waits for a message of a kind about a question. */
  async told(event: string, id: string, withinMs?: number): Promise<Envelope> {
    const found = () =>
      this.messages.find((message) => message.event === event && message.question.id === id)?.question;
    return (await eventually(found, withinMs)) as Envelope;
  }

  close(): void {
    this.#leave.abort();
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    let text = '';
    try {
      for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
        const blocks = (text + chunk).split('\n\n');
        text = blocks.pop() ?? '';
        for (const block of blocks) this.#take(block);
      }
    } catch {
      // It was cut, here or there.
    }
    this.#ended = true;
  }

  #take(block: string): void {
    const fields = new Map(
      block.split('\n').map((line) => [line.split(':')[0], line.replace(/^\w*: ?/, '')]),
    );
    const event = fields.get('event');
    if (event === undefined) return;
    this.messages.push({ event, question: JSON.parse(fields.get('data') ?? '') as Envelope });
  }
}
