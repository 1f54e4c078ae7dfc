import type { MessageHandler } from '@nestjs/microservices';
import { LogContext, type RetryLimits } from './contract.js';
import { callAll, type EventHandlers, type Failure } from './event-handlers.js';
import { pause } from './signal.js';
import type { Slots } from './slots.js';
import { isHiddenByNest } from './subscribe.js';

const MAX_ERROR_CHARACTERS = 4_000;
const NOT_STORABLE = /\0/g;

export interface DeliverySettings<Event> {
  readonly handlers: EventHandlers;
  /** JSON text of the envelope at an event. */
  readonly project: (event: Event) => string;
  readonly retry: RetryLimits;
  readonly slots: Slots;
  readonly isUnavailable: (error: unknown) => boolean;
  /** Puts an event aside for good. */
  readonly bury: (event: Event, letter: { attempts: number; error: string }) => Promise<void>;
  /** Told of what holds an event up, and with undefined that it goes on. */
  readonly trouble: (event: Event, what: string | undefined) => void;
}

export type Delivered = ConstructorParameters<typeof LogContext>[0][0];

/** Brings one event to its handlers, for as long as it takes. */
export class Delivery<Event extends Delivered> {
  constructor(private readonly settings: DeliverySettings<Event>) {}

  /** True when the event is done with: handled, or put aside. False when it was stopped before. Never rejects. */
  async deliver(event: Event, stopping: AbortSignal): Promise<boolean> {
    const { handlers, retry, slots } = this.settings;
    let open = handlers.of(event.type);
    let attempts = 0;
    for (let pauses = 0; !stopping.aborted; pauses += 1) {
      const line = slots.take();
      if (line !== undefined) await line;
      const failures = stopping.aborted ? undefined : await this.#attempt(open, event);
      slots.give();
      if (failures === undefined) return false;
      if (failures.length === 0) return true;
      open = failures.map(({ handler }) => handler);
      const outage = failures.find(({ error }) => this.#isOutage(error));
      if (outage !== undefined) this.settings.trouble(event, textOf(outage.error));
      else attempts += 1;
      if (attempts >= retry.attempts)
        return this.putAside(event, { attempts, error: reasonOf(failures) }, stopping);
      await pause(Math.min(retry.firstPauseMs * 2 ** pauses, retry.longestPauseMs), stopping);
      this.settings.trouble(event, undefined);
    }
    return false;
  }

  async #attempt(open: readonly MessageHandler[], event: Event): Promise<readonly Failure[]> {
    try {
      const envelope: unknown = JSON.parse(this.settings.project(event));
      return await callAll(open, envelope, new LogContext([event]));
    } catch (error) {
      // There is no envelope to call them with.
      return open.map((handler) => ({ handler, error }));
    }
  }

  /** Makes an event a dead letter. Without it the event would be lost, so it is written however long that takes. */
  async putAside(
    event: Event,
    letter: { attempts: number; error: string },
    stopping: AbortSignal,
  ): Promise<boolean> {
    while (!stopping.aborted) {
      try {
        await this.settings.bury(event, letter);
        this.settings.trouble(event, undefined);
        return true;
      } catch (error) {
        this.settings.trouble(event, `its dead letter: ${textOf(error)}`);
        await pause(this.settings.retry.longestPauseMs, stopping);
      }
    }
    return false;
  }

  /** An error that can't be told must not cost the event: it might be an outage. */
  #isOutage(error: unknown): boolean {
    return isHiddenByNest(error) || this.settings.isUnavailable(error);
  }
}

function reasonOf(failures: readonly Failure[]): string {
  const reasons = failures.map(({ error }) => textOf(error)).join('; ');
  return reasons.replace(NOT_STORABLE, '\ufffd').slice(0, MAX_ERROR_CHARACTERS);
}

function textOf(error: unknown): string {
  if (isHiddenByNest(error)) return 'a handler hides its errors from the bus: declare it with @Subscribe';
  if (error instanceof Error) return `${error.name}: ${error.message}`;
  return typeof error === 'string' ? error : (JSON.stringify(error) ?? String(error));
}
