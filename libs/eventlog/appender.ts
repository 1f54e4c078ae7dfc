import type pg from 'pg';
import { Batcher } from './batcher.js';
import { fillCommitTimes } from './commit-times.js';
import { type Append, type AppendResult, EVENT_MAX_BYTES, EventTooLong, type LoggedEvent } from './entry.js';
import { isolateFaults } from './item-faults.js';
import { newId } from './new-id.js';
import { separateRivals } from './rivals.js';
import { textArray } from './text-array.js';

const EVENT_SCHEMA = 1;
/** Of one UTF-16 code unit. */
const UTF8_MAX_BYTES = 3;
const MAX_BATCH = 512;
const MAX_WAITING = 50_000;

interface Verdict {
  readonly verdict: AppendResult['verdict'];
  readonly at_position: string | null;
  readonly at_time: string;
  readonly chain: string | null;
  readonly replay: string | null;
}

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
    const ids = items.map(newId);
    const { rows } = await this.options.pool.query<Verdict>({
      name: 'append_events',
      text: APPEND,
      values: [...parameters(items, ids), this.options.announce()],
    });
    const results = items.map((item, index) => resultOf(item, ids[index] as string, rows[index] as Verdict));
    const events = results.flatMap((result) => (result.verdict === 'appended' ? [result.event] : []));
    this.counts.batches += 1;
    this.counts.events += events.length;
    this.counts.refused += items.length - events.length;
    if (events.length > 0) this.options.committed(events);
    return results;
  }
}

function refuseTooLong({ entry: { data, stream, view } }: Append): void {
  for (const text of [data, view?.envelope ?? '']) {
    if (text.length * UTF8_MAX_BYTES <= EVENT_MAX_BYTES) continue;
    const bytes = Buffer.byteLength(text);
    if (bytes > EVENT_MAX_BYTES) {
      throw new EventTooLong(
        `An event of ${stream} has ${bytes} bytes, which is more than ${EVENT_MAX_BYTES}`,
      );
    }
  }
}

const APPEND = `SELECT verdict, at_position, at_time, chain, replay FROM append_events(
  $1::smallint, $2::uuid[], $3::text[], $4::text[], $5::integer[], $6::text[], $7::text[], $8::text[], $9::text[],
  $10::timestamptz[], $11::timestamptz[], $12::bigint[], $13::text[], $14::bytea[], $15::bytea[], $16::text[],
  $17::uuid[], $18::text[], $19::text[], $20::text[], $21::text[], $22::timestamptz[], $23::text[], $24::text[],
  $25::boolean)`;

function parameters(items: readonly Append[], ids: readonly string[]): unknown[] {
  const column = <T>(of: (item: Append) => T) => unlessEmpty(items.map(of), (values) => values);
  const texts = (of: (item: Append) => string | null | undefined) => unlessEmpty(items.map(of), textArray);
  return [
    EVENT_SCHEMA,
    ids,
    texts(({ entry }) => entry.tenant),
    texts(({ entry }) => entry.stream),
    column(({ entry }) => entry.version),
    texts(({ entry }) => entry.type),
    texts(({ entry }) => entry.data),
    texts(({ entry }) => entry.actor),
    texts(({ correlation }) => correlation),
    column(({ entry }) => entry.guard.notBefore),
    column(({ entry }) => entry.guard.notAfter),
    column(({ entry }) => entry.guard.lifetimeMs),
    texts(({ entry }) => entry.guard.memberOf),
    column(({ idempotency }) => idempotency?.key),
    column(({ idempotency }) => idempotency?.request),
    texts(({ idempotency }) => idempotency?.result),
    column(({ entry }) => entry.view?.id),
    texts(({ entry }) => entry.view?.state),
    texts(({ entry }) => entry.view?.asker),
    texts(({ entry }) => entry.view?.addressee),
    texts(({ entry }) => entry.view?.conversation),
    column(({ entry }) => entry.view?.expiresAt),
    texts(({ entry }) => entry.view?.defaultOption),
    texts(({ entry }) => entry.view?.envelope),
  ];
}

/** A column without values costs less as a null than as an array of nulls. */
function unlessEmpty<T>(values: readonly T[], encode: (values: readonly T[]) => unknown): unknown {
  return values.some((value) => value !== undefined && value !== null) ? encode(values) : null;
}

function resultOf({ entry, correlation }: Append, id: string, row: Verdict): AppendResult {
  if (row.verdict === 'replayed') return { verdict: 'replayed', result: row.replay ?? '' };
  if (row.verdict !== 'appended') return { verdict: row.verdict, now: row.at_time };
  const { tenant, stream, version, type, actor, guard, view } = entry;
  const at = row.at_time;
  const event = {
    position: Number(row.at_position),
    id,
    tenant,
    stream,
    version,
    type,
    schema: EVENT_SCHEMA,
    at,
    actor,
    correlation,
    data: fillCommitTimes(entry.data, at, guard.lifetimeMs),
    hash: row.chain ?? '',
    envelope: view === null ? null : fillCommitTimes(view.envelope, at, guard.lifetimeMs),
    defaultOption: view?.defaultOption ?? null,
  };
  return { verdict: 'appended', event };
}
