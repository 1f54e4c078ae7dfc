import { Controller, type Type } from '@nestjs/common';
import type { BusEvent, BusHealth, LogContext, RetryLimits } from '#bus';
import { Subscribe } from '#bus';
import type { Envelope } from '#contracts';

/** An event that was published. */
export interface Published {
  readonly position: number;
  readonly id: string;
  /** The question's. */
  readonly question: string;
}

export interface Member {
  health(): BusHealth;
  /** Stops in order. */
  stop(): Promise<void>;
  /** Loses all that it is connected to, as a process that is killed: from now on it records nothing. */
  crash(): Promise<void>;
}

export interface MemberSettings {
  readonly group: string;
  readonly controllers: readonly Type[];
  readonly retry?: Partial<RetryLimits>;
}

/** What a transport has to offer for the suite to be run against it. */
export interface BusHarness {
  ask(): Promise<Published>;
  answer(question: string): Promise<Published>;
  /** Starts one more member of a group. */
  join(settings: MemberSettings): Promise<Member>;
  /** Whether the group has recorded that it is done with an event. */
  isRecorded(group: string, event: Published): Promise<boolean>;
  deadLetters(group: string): Promise<readonly { position: number; attempts: number; error: string }[]>;
  /** An error that says that infrastructure is away. */
  outage(): Error;
  stop(): Promise<void>;
}

export interface Call {
  readonly envelope: Envelope;
  readonly event: BusEvent;
}

/** A consumer whose handlers note their calls, and then do what the test says. */
export class Consumer {
  readonly begun: Call[] = [];
  readonly done: Call[] = [];
  readonly controller: Type;

  constructor(
    readonly group: string,
    private readonly effect: (call: Call) => unknown = () => undefined,
  ) {
    const handle = (envelope: Envelope, { event }: LogContext) => this.#handle({ envelope, event });
    @Controller()
    class Handlers {
      @Subscribe(group, 'question.asked')
      asked(envelope: Envelope, context: LogContext) {
        return handle(envelope, context);
      }

      @Subscribe(group, 'question.answered')
      answered(envelope: Envelope, context: LogContext) {
        return handle(envelope, context);
      }
    }
    this.controller = Handlers;
  }

  /** To join with. */
  get settings(): { readonly group: string; readonly controllers: readonly Type[] } {
    return { group: this.group, controllers: [this.controller] };
  }

  /** How often an event was handled to the end. */
  times({ position }: Published): number {
    return this.done.filter(({ event }) => event.position === position).length;
  }

  async #handle(call: Call): Promise<void> {
    this.begun.push(call);
    await this.effect(call);
    this.done.push(call);
  }
}
