import { applyDecorators, Catch, type RpcExceptionFilter, UseFilters } from '@nestjs/common';
import { Ctx, EventPattern, Payload } from '@nestjs/microservices';
import { type Observable, throwError } from 'rxjs';

/**
 * Makes a method the handler of a type of event for one consumer group: `(envelope: Envelope, context: LogContext)`.
 * It is an `@EventPattern` that only the transport of its group hears, whose two parameters need no decorators, and whose
 * errors reach the transport as they are.
 */
export function Subscribe(group: string, type: string): MethodDecorator {
  return applyDecorators(
    EventPattern<string>(type, transportOf(group)),
    UseFilters(HandlerErrors),
    takesBoth,
  );
}

function takesBoth(handlers: object, method: string | symbol): void {
  Payload()(handlers, method, 0);
  Ctx()(handlers, method, 1);
}

/** Nest's name for the transport of a group: in a process with several, each hears its own handlers only. */
export function transportOf(group: string): symbol {
  return Symbol.for(`settled.bus.${group}`);
}

/** Hands an error on: by default Nest logs it and puts "Internal server error" in its place. */
@Catch()
export class HandlerErrors implements RpcExceptionFilter {
  catch(error: unknown): Observable<never> {
    return throwError(() => error);
  }
}

/** What Nest leaves of an error of a handler without that filter. Nobody can tell any more what it was. */
export function isHiddenByNest(error: unknown): boolean {
  return (
    typeof error === 'object' &&
    !(error instanceof Error) &&
    JSON.stringify(error) === '{"status":"error","message":"Internal server error"}'
  );
}
