import { LRUCache } from 'lru-cache';
import type { LoggedEvent } from '#eventlog';
import { Snapshot } from './snapshot.js';

const MAX_CHARACTERS = 24 * 1024 * 1024;
const STREAM_PREFIX = 'question:';

/** The id of the question that an event is of; undefined for other streams. */
export function questionOf(event: LoggedEvent): string | undefined {
  return event.stream.startsWith(STREAM_PREFIX) ? event.stream.slice(STREAM_PREFIX.length) : undefined;
}

/**
 * The newest snapshots of questions. Pending ones come from the tail alone, in the log's order, so one that is here was
 * pending when the tail was where it is now; an outcome is final, so it may also come from a read.
 */
export class QuestionCache {
  readonly #snapshots = new LRUCache<string, Snapshot>({
    maxSize: MAX_CHARACTERS,
    sizeCalculation: ({ json }) => json.length + 500,
  });

  get(tenant: string, id: string): Snapshot | undefined {
    return this.#snapshots.get(nameOf(tenant, id));
  }

  /** To be called with every event that the tail tells of. */
  follow(events: readonly LoggedEvent[]): void {
    for (const event of events) {
      const id = questionOf(event);
      if (id === undefined) continue;
      const name = nameOf(event.tenant, id);
      if (event.envelope === null) this.#snapshots.delete(name);
      else this.#snapshots.set(name, new Snapshot(event.version, event.envelope, event.defaultOption));
    }
  }

  putSettled(tenant: string, id: string, snapshot: Snapshot): void {
    this.#snapshots.set(nameOf(tenant, id), snapshot);
  }

  /** What is pending may have changed unseen. */
  clear(): void {
    this.#snapshots.clear();
  }
}

function nameOf(tenant: string, id: string): string {
  return `${tenant}/${id}`;
}
