import { Controller, Inject } from '@nestjs/common';
import { type LogContext, Subscribe } from '#bus';
import type { Envelope } from '#contracts';
import { FanOut } from './fan-out.js';
import { WEBHOOKS_GROUP } from './group.js';

/** Hears of every event of a question. */
@Controller()
export class EventsController {
  constructor(@Inject(FanOut) private readonly fanOut: FanOut) {}

  @Subscribe(WEBHOOKS_GROUP, 'question.asked')
  asked(envelope: Envelope, context: LogContext): Promise<void> {
    return this.#announce(envelope, context);
  }

  @Subscribe(WEBHOOKS_GROUP, 'question.answered')
  answered(envelope: Envelope, context: LogContext): Promise<void> {
    return this.#announce(envelope, context);
  }

  @Subscribe(WEBHOOKS_GROUP, 'question.expired')
  expired(envelope: Envelope, context: LogContext): Promise<void> {
    return this.#announce(envelope, context);
  }

  @Subscribe(WEBHOOKS_GROUP, 'question.cancelled')
  cancelled(envelope: Envelope, context: LogContext): Promise<void> {
    return this.#announce(envelope, context);
  }

  async #announce(envelope: Envelope, { event }: LogContext): Promise<void> {
    await this.fanOut.announce({ ...event, data: JSON.stringify(envelope) });
  }
}
