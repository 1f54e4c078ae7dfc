import { expect } from '@jest/globals';
import pg from 'pg';
import { createTestDatabase, type TestDatabase } from '../database.js';
import { type Caller, type CallOptions, SettledProcess } from '../settled-process.js';

export interface Option {
  readonly id: string;
  readonly label: string;
}

/** The envelope as the contract spells it. */
export interface Question {
  readonly object: string;
  readonly id: string;
  readonly tenant: string;
  readonly version: number;
  readonly state: string;
  readonly asker: string;
  readonly scope: Readonly<Record<string, string>>;
  readonly prompt: string;
  readonly options: readonly Option[];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly askedAt: string;
  readonly expiresAt: string;
  readonly outcome: Readonly<Record<string, unknown>> | null;
}

export interface Attempt {
  readonly applied: boolean;
  readonly question: Question;
}

export type Body = Readonly<Record<string, unknown>>;

export const YES = { id: 'yes', label: 'Yes' };
export const NO = { id: 'no', label: 'No' };
export const ADA = 'user:ada';
export const BO = 'user:bo';

/** A question for Ada that is valid as it is; what is given changes it, and what is given as `undefined` is left out. */
export function questionBody(change: Body = {}): Body {
  return {
    prompt: 'Deploy build 1234?',
    options: [YES, NO],
    scope: { kind: 'direct', user: ADA },
    ...change,
  };
}

/** A running Settled on a database of its own, and the people and programs that use it. */
export class House {
  private constructor(
    readonly database: TestDatabase,
    readonly environment: Record<string, string>,
    public server: SettledProcess,
    readonly people: Readonly<Record<'asker' | 'ada' | 'bo' | 'auditor' | 'admin', Caller>>,
  ) {}

  static async open(environment: Record<string, string> = {}): Promise<House> {
    const database = await createTestDatabase();
    const server = await SettledProcess.start({ DATABASE_URL: database.url, ...environment });
    const people = {
      asker: await server.key('agent:deployer', ['ask']),
      ada: await server.key(ADA, ['answer']),
      bo: await server.key(BO, ['answer']),
      auditor: await server.key('user:auditor', ['audit']),
      admin: await server.key('user:root', ['admin']),
    };
    return new House(database, environment, server, people);
  }

  async close(): Promise<void> {
    await this.server.stop();
    await this.database.drop();
  }

  /** What the database itself has. */
  async query(sql: string, values: readonly unknown[] = []): Promise<readonly Record<string, unknown>[]> {
    const client = new pg.Client(this.database.connection);
    await client.connect();
    try {
      return (await client.query(sql, [...values])).rows;
    } finally {
      await client.end();
    }
  }

  /** Ends the server and starts it again on the same database. */
  async restart(how: 'stop' | 'kill' = 'stop'): Promise<void> {
    await this.server[how]();
    const settings = { DATABASE_URL: this.database.url, ...this.environment };
    this.server = await SettledProcess.start(settings, this.server.adminKey);
  }

  get(path: string, caller?: Caller, options: CallOptions = {}): Promise<Response> {
    return this.server.call('GET', path, { ...(caller && { key: caller.key }), ...options });
  }

  post(
    path: string,
    caller: Caller | undefined,
    body: unknown,
    options: CallOptions = {},
  ): Promise<Response> {
    return this.server.call('POST', path, { ...(caller && { key: caller.key }), body, ...options });
  }

  async ask(change: Body = {}, caller: Caller = this.people.asker): Promise<Question> {
    const response = await this.post('/v1/questions', caller, questionBody(change));
    return await successful<Question>(response, 201);
  }

  async fetch(id: string, caller: Caller = this.people.asker): Promise<Question> {
    return await successful<Question>(await this.get(`/v1/questions/${id}`, caller));
  }

  async answer(id: string, choice: Body = { option: 'yes' }, caller = this.people.ada): Promise<Attempt> {
    return await successful<Attempt>(await this.post(`/v1/questions/${id}/answer`, caller, choice));
  }

  async cancel(id: string, body: Body = {}, caller = this.people.asker): Promise<Attempt> {
    return await successful<Attempt>(await this.post(`/v1/questions/${id}/cancel`, caller, body));
  }

  async list(query: string, caller: Caller = this.people.asker): Promise<Page> {
    return await successful<Page>(await this.get(`/v1/questions?${query}`, caller));
  }

  /** Makes a room if need be and lets the people in. */
  async room(name: string, members: readonly string[] = []): Promise<void> {
    const key = this.people.admin.key;
    expect((await this.server.call('PUT', `/v1/rooms/${name}`, { key })).status).toBe(200);
    for (const member of members) await this.join(name, member);
  }

  async join(room: string, subject: string): Promise<void> {
    await this.#membership('PUT', room, subject);
  }

  async leave(room: string, subject: string): Promise<void> {
    await this.#membership('DELETE', room, subject);
  }

  async #membership(method: string, room: string, subject: string): Promise<void> {
    const path = `/v1/rooms/${room}/members/${encodeURIComponent(subject)}`;
    const response = await this.server.call(method, path, { key: this.people.admin.key });
    expect([method, response.status]).toStrictEqual([method, 204]);
  }
}

export interface Page {
  readonly data: readonly Question[];
  readonly nextCursor: string | null;
}

/** The JSON of a response that has to be a success. */
export async function successful<T>(response: Response, status = 200): Promise<T> {
  const text = await response.text();
  expect([response.status, text]).toStrictEqual([status, expect.any(String)]);
  return JSON.parse(text) as T;
}
