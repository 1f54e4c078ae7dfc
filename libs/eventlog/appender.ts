import type pg from 'pg';
import { writeBatch } from './append-statement.js';
import { Batcher } from './batcher.js';
import {
  type Append,
  type AppendResult,
  EVENT_MAX_BYTES,
  EventTooLong,
  entriesOf,
  type LoggedEvent,
} from './entry.js';
import { isolateFaults } from './item-faults.js';
import { separateRivals } from './rivals.js';

/** Of one UTF-16 code unit. */
const UTF8_MAX_BYTES = 3;
const MAX_BATCH = 512;
const MAX_WAITING = 50_000;

export interface AppenderOptions {
  readonly pool: pg.Pool;
  /** Whether others listen for a notification. */
  readonly announce: () => boolean;
  /** Called with what was committed, in position order, before any caller hears of it. */
  readonly committed: (events: readonly LoggedEvent[]) => void;
}

/**
 * Appends in batches: one round trip, one transaction and one sync for all that waits. A refused or bad item never fails
 * its neighbours. When the connection breaks, nobody knows what was committed: every caller of the batch gets the error,
 * and a retry with the same idempotency key finds out.
 */
export class Appender {
  readonly #batcher = new Batcher<Append, AppendResult>(
    (items) => separateRivals(items, (firsts) => isolateFaults(firsts, (some) => this.#writeBatch(some))),
    {
      maxBatch: MAX_BATCH,
      maxWaiting: MAX_WAITING,
    },
  );

  readonly counts = { batches: 0, events: 0, refused: 0 };

  constructor(private readonly options: AppenderOptions) {}

  async append(item: Append): Promise<AppendResult> {
    refuseTooLong(item);
    return await this.#batcher.submit(item);
  }

  async #writeBatch(items: readonly Append[]): Promise<readonly AppendResult[]> {
    const results = await writeBatch(this.options.pool, items, this.options.announce());
    const events = results.flatMap((result) =>
      result.verdict === 'appended' ? [result.event, ...result.together] : [],
    );
    this.counts.batches += 1;
    this.counts.events += events.length;
    this.counts.refused += results.filter(({ verdict }) => verdict !== 'appended').length;
    if (events.length > 0) this.options.committed(events);
    return results;
  }
}

function refuseTooLong(item: Append): void {
  for (const { data, stream, view, conversation } of entriesOf(item)) {
    for (const text of [data, view?.envelope ?? conversation?.state ?? '']) {
      if (text.length * UTF8_MAX_BYTES <= EVENT_MAX_BYTES) continue;
      const bytes = Buffer.byteLength(text);
      if (bytes > EVENT_MAX_BYTES) {
        throw new EventTooLong(
          `An event of ${stream} has ${bytes} bytes, which is more than ${EVENT_MAX_BYTES}`,
        );
      }
    }
  }
}
