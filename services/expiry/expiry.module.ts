import {
  type DynamicModule,
  Inject,
  Module,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import type { EventLog } from '#eventlog';
import type { Logger, Readiness } from '#platform';
import { QuestionWriter } from '#settling';
import { DeadlinesController } from './deadlines.controller.js';
import { Sweeper } from './sweeper.js';

export interface ExpiryParts {
  readonly log: EventLog;
  readonly logger: Logger;
  readonly readiness: Readiness;
}

/** Settles questions whose deadline has passed. What is overdue at start is settled before the application serves. */
@Module({})
export class ExpiryModule implements OnModuleInit, OnApplicationShutdown {
  constructor(@Inject(Sweeper) private readonly sweeper: Sweeper) {}

  static over({ log, logger, readiness }: ExpiryParts): DynamicModule {
    const sweeper = new Sweeper(new QuestionWriter(log), logger);
    readiness.add('expiry', () => sweeper.health);
    return {
      module: ExpiryModule,
      controllers: [DeadlinesController],
      providers: [{ provide: Sweeper, useValue: sweeper }],
    };
  }

  async onModuleInit(): Promise<void> {
    await this.sweeper.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.sweeper.stop();
  }
}
