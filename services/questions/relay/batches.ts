import type { LoggedEvent } from '#eventlog';

/** Of the events of one transaction. An outcome goes out twice, and brokers take requests of up to 1 MB by default. */
const MAX_BYTES = 384 * 1024;
/** Key, headers and what frames a record. */
const OVERHEAD_BYTES = 600;

/** Cuts events into transactions, in order; one that is too long for any is alone in its own. */
export function cutByBytes(events: readonly LoggedEvent[], maxBytes = MAX_BYTES): LoggedEvent[][] {
  const batches: LoggedEvent[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const event of events) {
    const size = bytesOf(event);
    if (bytes + size > maxBytes) {
      batches.push([]);
      bytes = 0;
    }
    batches.at(-1)?.push(event);
    bytes += size;
  }
  return batches;
}

/** The first event's envelope may not be at hand: it is about as long as the event. */
function bytesOf({ envelope, data }: LoggedEvent): number {
  return OVERHEAD_BYTES + Buffer.byteLength(envelope ?? data);
}
