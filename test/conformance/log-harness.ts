import { type INestMicroservice, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { LogTransport, type LogTransportOptions } from '#bus';
import type { LoggedEvent } from '#eventlog';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { openLog, type TestLog } from '../support/log.js';
import { answerQuestion, askQuestion, idOf, projectEnvelope } from '../support/questions.js';
import { startProxy, type TcpProxy } from '../support/tcp-proxy.js';
import type { BusHarness, Member, MemberSettings, Published } from './bus-harness.js';

type Options = MemberSettings & Partial<Pick<LogTransportOptions, 'from' | 'project'>>;

/** The bus that tails the log: members are Nest microservices, each behind a network of its own. */
export class LogHarness implements BusHarness {
  private constructor(
    readonly database: TestDatabase,
    readonly own: TestLog,
  ) {}

  static async start(): Promise<LogHarness> {
    const database = await createTestDatabase();
    return new LogHarness(database, await openLog(database.connection));
  }

  async stop(): Promise<void> {
    await this.own.stop();
    await this.database.drop();
  }

  async ask(): Promise<Published> {
    return published(await askQuestion(this.own.log));
  }

  async answer(question: string): Promise<Published> {
    return published(await answerQuestion(this.own.log, question));
  }

  join(settings: Options): Promise<LogMember> {
    return LogMember.start(this.database, settings);
  }

  async isRecorded(group: string, { position }: Published): Promise<boolean> {
    const { rows } = await this.own.pool.query('SELECT position FROM checkpoints WHERE consumer = $1', [
      group,
    ]);
    return Number(rows[0]?.position ?? 0) >= position;
  }

  async deadLetters(group: string): Promise<{ position: number; attempts: number; error: string }[]> {
    const { rows } = await this.own.pool.query(
      'SELECT position::int, attempts, error FROM dead_letters WHERE consumer = $1 ORDER BY position',
      [group],
    );
    return rows;
  }

  outage(): Error {
    return Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  }
}

export class LogMember implements Member {
  #ended: Promise<void> | undefined;

  private constructor(
    readonly proxy: TcpProxy,
    private readonly log: TestLog,
    private readonly transport: LogTransport,
    private readonly app: INestMicroservice,
  ) {}

  static async start(
    database: TestDatabase,
    { controllers, group, ...settings }: Options,
  ): Promise<LogMember> {
    const proxy = await startProxy(database);
    const log = await openLog(proxy.connection);
    const transport = new LogTransport({ log: log.log, group, project: projectEnvelope, ...settings });
    const root = class {};
    Module({ controllers: [...controllers] })(root);
    const app = await NestFactory.createMicroservice(root, { strategy: transport, logger: false });
    await app.listen();
    return new LogMember(proxy, log, transport, app);
  }

  health() {
    return this.transport.health();
  }

  stop(): Promise<void> {
    this.#ended ??= this.#end();
    return this.#ended;
  }

  async crash(): Promise<void> {
    this.proxy.refuse();
    // Its handlers may be held by the test: the end is awaited when the test is over.
    this.#ended ??= this.#end();
  }

  async #end(): Promise<void> {
    await this.app.close();
    await this.log.stop();
    await this.proxy.stop();
  }
}

function published(event: LoggedEvent): Published {
  return { position: event.position, id: event.id, question: idOf(event) };
}
