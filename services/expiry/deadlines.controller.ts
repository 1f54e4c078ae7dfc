import { Controller, Inject } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { Subscribe } from '#bus';
import type { Envelope } from '#contracts';
import { EXPIRY_GROUP } from './group.js';
import { Sweeper } from './sweeper.js';

/** Hears of new deadlines. One that is missed costs punctuality only: the sweep comes anyway. */
@Controller()
export class DeadlinesController {
  constructor(@Inject(Sweeper) private readonly sweeper: Sweeper) {}

  @Subscribe(EXPIRY_GROUP, 'question.asked')
  asked(@Payload() { expiresAt }: Envelope): void {
    this.sweeper.expect(expiresAt);
  }
}
