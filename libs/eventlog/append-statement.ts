import type pg from 'pg';
import { fillCommitTimes } from './commit-times.js';
import {
  type Append,
  type AppendResult,
  type Entry,
  entriesOf,
  type Idempotency,
  type LoggedEvent,
} from './entry.js';
import { newId } from './new-id.js';
import { textArray } from './text-array.js';

const EVENT_SCHEMA = 1;

interface Verdict {
  readonly verdict: AppendResult['verdict'];
  readonly at_position: string | null;
  readonly at_time: string;
  readonly chain: string | null;
  readonly replay: string | null;
}

/** Writes a batch in one statement, which is one transaction. At most one entry of each stream and one of each idempotency key. */
export async function writeBatch(
  pool: pg.Pool,
  items: readonly Append[],
  announce: boolean,
): Promise<readonly AppendResult[]> {
  const rows = rowsOf(items);
  const values = [...parameters(rows), announce];
  const written = await pool.query<Verdict>({ name: 'append_events', text: APPEND, values });
  return resultsOf(items, rows, written.rows);
}

/** One entry as the log's function gets it. */
interface Row {
  readonly id: string;
  /** Of the append that it belongs to; undefined when no append of the batch has other entries. */
  readonly group: number | undefined;
  readonly entry: Entry;
  readonly correlation: string;
  readonly idempotency: Idempotency | undefined;
}

function rowsOf(items: readonly Append[]): readonly Row[] {
  // Once there are groups, what stands alone is a group too: rows without one next to each other would count as one.
  const inGroups = items.some(({ together }) => together !== undefined);
  return items.flatMap((item, index) => {
    const group = inGroups ? index : undefined;
    return entriesOf(item).map((entry): Row => {
      const idempotency = entry === item.entry ? item.idempotency : undefined;
      return { id: newId(), group, entry, correlation: item.correlation, idempotency };
    });
  });
}

const APPEND = `SELECT verdict, at_position, at_time, chain, replay FROM append_events(
  $1::smallint, $2::uuid[], $3::text[], $4::text[], $5::integer[], $6::text[], $7::text[], $8::text[], $9::text[],
  $10::timestamptz[], $11::timestamptz[], $12::bigint[], $13::text[], $14::bytea[], $15::bytea[], $16::text[],
  $17::uuid[], $18::text[], $19::text[], $20::text[], $21::text[], $22::timestamptz[], $23::text[], $24::text[],
  $25::integer[], $26::text[], $27::text[], $28::text[], $29::uuid[], $30::boolean)`;

function parameters(rows: readonly Row[]): unknown[] {
  const column = <T>(of: (row: Row) => T) => unlessEmpty(rows.map(of), (values) => values);
  const texts = (of: (row: Row) => string | null | undefined) => unlessEmpty(rows.map(of), textArray);
  return [
    EVENT_SCHEMA,
    rows.map(({ id }) => id),
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
    column(({ entry }) => entry.view?.expiresAt ?? entry.conversation?.lapsesAt),
    texts(({ entry }) => entry.view?.defaultOption),
    texts(({ entry }) => entry.view?.envelope),
    column(({ group }) => group),
    texts(({ entry }) => entry.conversation?.id),
    texts(({ entry }) => entry.conversation?.owner),
    texts(({ entry }) => entry.conversation?.state),
    column(({ entry }) => entry.conversation?.continuation),
  ];
}

/** A column without values costs less as a null than as an array of nulls. */
function unlessEmpty<T>(values: readonly T[], encode: (values: readonly T[]) => unknown): unknown {
  return values.some((value) => value !== undefined && value !== null) ? encode(values) : null;
}

function resultsOf(
  items: readonly Append[],
  rows: readonly Row[],
  verdicts: readonly Verdict[],
): readonly AppendResult[] {
  let next = 0;
  return items.map((item) => {
    const size = entriesOf(item).length;
    const from = next;
    next += size;
    return resultOf(rows.slice(from, next), verdicts.slice(from, next));
  });
}

/** What became of the entries of one append: the first that is refused tells of all. */
function resultOf(rows: readonly Row[], verdicts: readonly Verdict[]): AppendResult {
  for (const [index, { verdict, at_time: now, replay }] of verdicts.entries()) {
    if (verdict === 'appended') continue;
    if (verdict === 'replayed') return { verdict, result: replay ?? '' };
    return { verdict, now, stream: rows[index]?.entry.stream ?? '' };
  }
  const [event, ...together] = rows.map((row, index) => eventOf(row, verdicts[index] as Verdict));
  return { verdict: 'appended', event: event as LoggedEvent, together };
}

function eventOf({ id, entry, correlation }: Row, row: Verdict): LoggedEvent {
  const { tenant, stream, version, type, actor, guard, view } = entry;
  const at = row.at_time;
  return {
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
}
