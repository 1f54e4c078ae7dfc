import { createHash } from 'node:crypto';
import type { StoredEvent } from './stored-log.js';

/** What is wrong with a log as such, whatever its events are about: order, versions, hash chain. */
export function logViolations(events: readonly StoredEvent[]): string[] {
  return [...orderViolations(events), ...streamsOf(events).flatMap(chainViolations)];
}

/** The events of each stream, in position order. */
export function streamsOf(events: readonly StoredEvent[]): StoredEvent[][] {
  const streams = new Map<string, StoredEvent[]>();
  for (const event of events) {
    const name = `${event.tenant}/${event.stream}`;
    const stream = streams.get(name);
    if (stream === undefined) streams.set(name, [event]);
    else stream.push(event);
  }
  return [...streams.values()];
}

function orderViolations(events: readonly StoredEvent[]): string[] {
  return events.flatMap(({ position, at }, index) => {
    const before = events[index - 1];
    return [
      ...(position === index + 1 ? [] : [`position ${position} stands in place ${index + 1}`]),
      ...(before === undefined || before.at <= at
        ? []
        : [`position ${position} is older than the one before`]),
      ...(at.endsWith('000Z') ? [] : [`position ${position} has an instant finer than a millisecond: ${at}`]),
    ];
  });
}

function chainViolations(stream: readonly StoredEvent[]): string[] {
  let previous = Buffer.alloc(0);
  return stream.flatMap((event, index) => {
    previous = hashOf(event, previous);
    return [
      ...(event.version === index + 1
        ? []
        : [`${event.stream}: version ${event.version} in place ${index + 1}`]),
      ...(event.hash === previous.toString('hex')
        ? []
        : [`${event.stream}: hash ${event.version} is broken`]),
    ];
  });
}

function hashOf(event: StoredEvent, previous: Buffer): Buffer<ArrayBuffer> {
  const { position, id, tenant, stream, version, type, schema, at, actor, correlation, data } = event;
  const shownAt = millisecondsOf(at);
  const text = [position, id, tenant, stream, version, type, schema, shownAt, actor, correlation, data].join(
    '\n',
  );
  return createHash('sha256').update(previous).update(text).digest();
}

/** An instant with microseconds as every wire shows it. */
export function millisecondsOf(at: string): string {
  return at.replace(/\d{3}Z$/, 'Z');
}
