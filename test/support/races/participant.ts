import { expect } from '@jest/globals';
import type { AccessScope, Envelope } from '#contracts';
import type { Caller, CallOptions } from '../settled-process.js';

/** What Settled says to an attempt to settle a question. */
export interface Attempt {
  readonly applied: boolean;
  readonly question: Envelope;
  /** Whether it is the response to an earlier request with the same Idempotency-Key. */
  readonly replayed: boolean;
}

export interface Retriable {
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
}

/** A response that is not the one that was hoped for. */
export class Refused extends Error {
  override readonly name = 'Refused';

  constructor(
    readonly status: number,
    readonly headers: Headers,
    readonly body: unknown,
  ) {
    super(`${status} ${JSON.stringify(body)}`);
  }
}

export const YES = { id: 'yes', label: 'Yes' };
export const NO = { id: 'no', label: 'No' };

/** Somebody with a key, who talks to one instance; `at` another one it is the same person. */
export class Participant {
  constructor(
    readonly url: string,
    readonly caller: Caller,
  ) {}

  get subject(): string {
    return this.caller.subject;
  }

  at({ url }: { readonly url: string }): Participant {
    return new Participant(url, this.caller);
  }

  /** Asks; what the body leaves out is a yes-or-no question. */
  async ask(body: Readonly<Record<string, unknown>>, retriable: Retriable = {}): Promise<Envelope> {
    return await this.#post('/v1/questions', { prompt: 'Deploy?', options: [YES, NO], ...body }, retriable);
  }

  async answer(id: string, option = 'yes', retriable: Retriable = {}): Promise<Attempt> {
    return await this.#attempt(`/v1/questions/${id}/answer`, { option }, retriable);
  }

  async cancel(id: string, retriable: Retriable = {}): Promise<Attempt> {
    return await this.#attempt(`/v1/questions/${id}/cancel`, {}, retriable);
  }

  async fetch(id: string): Promise<Envelope> {
    return (await this.get(`/v1/questions/${id}`)) as Envelope;
  }

  async wait(id: string, timeoutSeconds = 20): Promise<Envelope> {
    return (await this.get(`/v1/questions/${id}/wait?timeout=${timeoutSeconds}`)) as Envelope;
  }

  async get(path: string): Promise<unknown> {
    return await bodyOf(await this.send('GET', path));
  }

  /** Makes a key of its own for somebody else, and takes the same instance for them. */
  async newcomer(subject: string, scopes: readonly AccessScope[]): Promise<Participant & { keyId: string }> {
    const response = await this.send('POST', '/v1/keys', { body: { subject, scopes } });
    const { id, key } = (await bodyOf(response)) as { id: string; key: string };
    return Object.assign(new Participant(this.url, { subject, key }), { keyId: id });
  }

  /** One request as it is, whatever comes back. */
  async send(method: string, path: string, { body, headers, signal }: CallOptions = {}): Promise<Response> {
    return await fetch(`${this.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.caller.key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  }

  async #attempt(path: string, body: unknown, retriable: Retriable): Promise<Attempt> {
    const response = await this.#sendPost(path, body, retriable);
    const attempt = (await bodyOf(response)) as Omit<Attempt, 'replayed'>;
    return { ...attempt, replayed: response.headers.get('idempotency-replayed') === 'true' };
  }

  async #post(path: string, body: unknown, retriable: Retriable): Promise<Envelope> {
    return (await bodyOf(await this.#sendPost(path, body, retriable))) as Envelope;
  }

  #sendPost(path: string, body: unknown, { idempotencyKey, signal }: Retriable): Promise<Response> {
    return this.send('POST', path, {
      body,
      ...(idempotencyKey === undefined ? {} : { headers: { 'idempotency-key': idempotencyKey } }),
      ...(signal === undefined ? {} : { signal }),
    });
  }
}

/** The JSON of a response; throws `Refused` when it is not a success. */
async function bodyOf(response: Response): Promise<unknown> {
  const text = await response.text();
  const body: unknown = text === '' ? undefined : JSON.parse(text);
  if (response.ok) return body;
  throw new Refused(response.status, response.headers, body);
}

/** The status and code with which something is refused; fails when it is not. */
export async function refusalOf(work: Promise<unknown>): Promise<{ status: number; code: string }> {
  const refused = await work.catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(Refused);
  const { status, body } = refused as Refused;
  return { status, code: (body as { code: string }).code };
}
