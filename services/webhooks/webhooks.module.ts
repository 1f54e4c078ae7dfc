import {
  type DynamicModule,
  Inject,
  Module,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import type { EventLog } from '#eventlog';
import type { Logger, Readiness, Registry } from '#platform';
import { Announcer } from './continuations/announcer.js';
import { Dispatcher } from './dispatch/dispatcher.js';
import { EventsController } from './events.controller.js';
import { FanOut } from './fan-out.js';
import { DeliveriesController } from './http/deliveries.controller.js';
import { WebhooksController } from './http/webhooks.controller.js';
import { WebhookMetrics } from './metrics.js';
import { Retention } from './retention.js';
import type { SecretBox } from './secret-box.js';
import { AddressPolicy } from './sending/address-policy.js';
import { httpClient } from './sending/http-client.js';
import { Sender } from './sending/sender.js';
import type { WebhookSettings } from './settings.js';
import { Claims } from './store/claims.js';
import { DeliveryStore } from './store/deliveries.js';
import { WebhookStore } from './store/webhooks.js';
import { WebhookService } from './webhook.service.js';

/** What the module is built over. */
export interface WebhooksParts {
  readonly log: EventLog;
  readonly box: SecretBox;
  readonly settings: WebhookSettings;
  readonly version: string;
  readonly logger: Logger;
  readonly metrics: Registry;
  readonly readiness: Readiness;
}

/** Subscriptions, fan-out and delivery. */
@Module({})
export class WebhooksModule implements OnModuleInit, OnApplicationShutdown {
  constructor(
    @Inject(Dispatcher) private readonly dispatcher: Dispatcher,
    @Inject(Announcer) private readonly announcer: Announcer,
    @Inject(Retention) private readonly retention: Retention,
  ) {}

  static over({ log, box, settings, version, logger, metrics, readiness }: WebhooksParts): DynamicModule {
    const { pool } = log;
    const { WEBHOOKS_TIMEOUT_MS: timeoutMs } = settings;
    const policy = new AddressPolicy(settings.WEBHOOKS_ALLOW_PRIVATE);
    const sender = new Sender(httpClient(policy, timeoutMs), { timeoutMs, userAgent: `Settled/${version}` });
    const deliveries = new DeliveryStore(pool);
    const made = () => dispatcher.wake();
    const webhooks = new WebhookStore(pool);
    const service = new WebhookService({ pool, webhooks, deliveries, box, policy, logger, made });
    const dispatcher: Dispatcher = new Dispatcher({
      claims: new Claims(pool),
      sender,
      box,
      logger,
      schedule: settings.WEBHOOKS_RETRY_SCHEDULE,
      failingForSeconds: settings.WEBHOOKS_DISABLE_AFTER_SECONDS,
      disable: (webhook, reason) => service.disable(webhook, reason),
      attempted: (_delivery, result) => figures.attempted(result),
    });
    const figures = new WebhookMetrics(metrics, pool, () => dispatcher.inFlight);
    const fanOut = new FanOut(pool, made);
    const announcer = new Announcer({ log, fanOut, schedule: settings.WEBHOOKS_ANNOUNCE_SCHEDULE, logger });
    readiness.add('webhooks', () => dispatcher.health);
    readiness.add('continuations', () => announcer.health);
    return {
      module: WebhooksModule,
      controllers: [WebhooksController, DeliveriesController, EventsController],
      providers: [
        { provide: WebhookService, useValue: service },
        { provide: Dispatcher, useValue: dispatcher },
        { provide: FanOut, useValue: fanOut },
        { provide: Announcer, useValue: announcer },
        {
          provide: Retention,
          useValue: new Retention(deliveries, settings.WEBHOOKS_RETENTION_DAYS, logger),
        },
      ],
    };
  }

  onModuleInit(): void {
    this.dispatcher.start();
    this.announcer.start();
    this.retention.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.announcer.stop();
    await this.dispatcher.stop();
    await this.retention.stop();
  }
}
