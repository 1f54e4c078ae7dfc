import type { MessageHandler } from '@nestjs/microservices';
import { isObservable, lastValueFrom } from 'rxjs';
import type { LogContext } from './contract.js';

const NONE: readonly MessageHandler[] = [];

export interface Failure {
  readonly handler: MessageHandler;
  readonly error: unknown;
}

/** The handlers of each type of event, each by itself: Nest's own chain of them could not be retried in part. */
export class EventHandlers {
  readonly #byType = new Map<string, MessageHandler[]>();

  add(type: string, handler: MessageHandler): void {
    const handlers = this.#byType.get(type);
    if (handlers === undefined) this.#byType.set(type, [handler]);
    else handlers.push(handler);
  }

  of(type: string): readonly MessageHandler[] {
    return this.#byType.get(type) ?? NONE;
  }
}

/** Calls handlers at the same time and waits for all; returns those that failed. Never rejects. */
export async function callAll(
  handlers: readonly MessageHandler[],
  envelope: unknown,
  context: LogContext,
): Promise<readonly Failure[]> {
  const [only] = handlers;
  if (only !== undefined && handlers.length === 1) return failures([await call(only, envelope, context)]);
  return failures(await Promise.all(handlers.map((handler) => call(handler, envelope, context))));
}

async function call(
  handler: MessageHandler,
  envelope: unknown,
  context: LogContext,
): Promise<Failure | undefined> {
  try {
    const result: unknown = await handler(envelope, context);
    // Nest returns a stream for what failed, and where interceptors are at work; the stream's end is the handler's.
    if (isObservable(result)) await lastValueFrom(result, { defaultValue: undefined });
    return undefined;
  } catch (error) {
    return { handler, error };
  }
}

function failures(outcomes: readonly (Failure | undefined)[]): readonly Failure[] {
  return outcomes.filter((outcome) => outcome !== undefined);
}
