import type { Caller, CallOptions } from '../settled-process.js';
import { type Body, type House, type Question, successful } from './house.js';
import { problem } from './problems.js';

interface StartedTurn {
  readonly turn: string;
  readonly answers: readonly Question[];
}

interface FinishedTurn {
  readonly detached: readonly string[];
  readonly settled: readonly string[];
  readonly continuation: string | null;
}

interface Stopped {
  readonly cancelled: readonly string[];
  readonly dropped: number;
}

interface Continuation {
  readonly id: string;
  readonly answers: readonly Question[];
}

let made = 0;

/** A conversation, as the agent that owns it speaks of it. */
export class Chat {
  constructor(
    readonly house: House,
    readonly caller: Caller = house.people.asker,
    readonly id: string = `chat-${++made}`,
  ) {}

  /** A question of the conversation, asked by the turn if one is given. */
  ask(turn: string | null, change: Body = {}): Promise<Question> {
    const asked = { conversation: this.id, ...(turn === null ? {} : { turn }), ...change };
    return this.house.ask(asked, this.caller);
  }

  /** A question that no turn waits for, answered: what the agent is owed. */
  async owe(): Promise<Question> {
    const { id } = await this.ask(null);
    return (await this.house.answer(id)).question;
  }

  async beginSend(body: Body = {}): Promise<string> {
    return (await successful<{ send: string }>(await this.post('sends', body), 201)).send;
  }

  async withdrawSend(send: string): Promise<void> {
    await successfulWithout(await this.call('DELETE', `sends/${encodeURIComponent(send)}`));
  }

  async startTurn(body: Body = {}, options: CallOptions = {}): Promise<StartedTurn> {
    return await successful<StartedTurn>(await this.post('turns', body, options), 201);
  }

  async boundary(turn: string, options: CallOptions = {}): Promise<readonly Question[]> {
    const response = await this.post(`turns/${encodeURIComponent(turn)}/boundary`, undefined, options);
    return (await successful<{ answers: readonly Question[] }>(response)).answers;
  }

  async finish(turn: string, options: CallOptions = {}): Promise<FinishedTurn> {
    return await successful(await this.post(`turns/${encodeURIComponent(turn)}/finish`, undefined, options));
  }

  async stop(): Promise<Stopped> {
    return await successful<Stopped>(await this.post('stop'));
  }

  async delete(): Promise<Stopped> {
    return await successful<Stopped>(await this.call('DELETE', ''));
  }

  async continuation(timeoutSeconds = 0): Promise<Continuation | null> {
    const response = await this.call('GET', `wait?timeout=${timeoutSeconds}`);
    return (await successful<{ continuation: Continuation | null }>(response)).continuation;
  }

  /** The code with which something is refused for the state of the conversation. */
  async refusal(path: string, body?: Body): Promise<string> {
    return (await problem(await this.post(path, body), 409)).code;
  }

  post(path: string, body?: Body, options: CallOptions = {}): Promise<Response> {
    return this.call('POST', path, { ...(body && { body }), ...options });
  }

  call(method: string, path: string, options: CallOptions = {}): Promise<Response> {
    const end = path === '' ? '' : `/${path}`;
    const of = `/v1/conversations/${encodeURIComponent(this.id)}${end}`;
    return this.house.server.call(method, of, { key: this.caller.key, ...options });
  }
}

async function successfulWithout(response: Response): Promise<void> {
  if (response.status !== 204) throw new Error(`${response.status} ${await response.text()}`);
}
