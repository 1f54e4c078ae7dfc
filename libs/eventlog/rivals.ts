import { type Append, type AppendResult, type Entry, entriesOf } from './entry.js';
import { isFaultOfAnItem } from './item-faults.js';

type Outcome = AppendResult | Error;

/**
 * Runs a batch so that `run` gets one item of each stream and of each idempotency key, the first. Once that is appended,
 * its rivals are conflicts; when it is not, the next of them has its turn.
 */
export async function separateRivals(
  items: readonly Append[],
  run: (items: readonly Append[]) => Promise<readonly Outcome[]>,
): Promise<readonly Outcome[]> {
  const firstOf = firstRivals(items);
  const outcomes = new Map<Append, Outcome>();
  const settle = (some: readonly Append[], written: readonly Outcome[]) => {
    for (const [index, item] of some.entries()) outcomes.set(item, written[index] as Outcome);
  };
  const firsts = items.filter((item) => !firstOf.has(item));
  settle(firsts, await run(firsts));
  const next: Append[] = [];
  for (const [rival, first] of firstOf) {
    const outcome = outcomeForRival(rival, outcomes.get(first) as Outcome);
    if (outcome === undefined) next.push(rival);
    else outcomes.set(rival, outcome);
  }
  if (next.length > 0) settle(next, await separateRivals(next, run));
  return items.map((item) => outcomes.get(item) as Outcome);
}

/** By each item that is not the first of its stream and key, that first one. */
function firstRivals(items: readonly Append[]): Map<Append, Append> {
  const firsts = new Map<string, Append>();
  const rivals = new Map<Append, Append>();
  for (const item of items) {
    const names = namesOf(item);
    const first = names.map((name) => firsts.get(name)).find((found) => found !== undefined);
    if (first !== undefined) rivals.set(item, first);
    else for (const name of names) firsts.set(name, item);
  }
  return rivals;
}

function namesOf(item: Append): string[] {
  const streams = entriesOf(item).map(nameOf);
  return item.idempotency === undefined ? streams : [...streams, item.idempotency.key.toString('base64')];
}

function nameOf({ tenant, stream }: Pick<Entry, 'tenant' | 'stream'>): string {
  return `${tenant} ${stream}`;
}

/** Undefined when the rival may still be appended. */
function outcomeForRival(rival: Append, first: Outcome): Outcome | undefined {
  if (first instanceof Error) return isFaultOfAnItem(first) ? undefined : first;
  if (first.verdict !== 'appended') return undefined;
  const taken = new Set([first.event, ...first.together].map(nameOf));
  const shared = entriesOf(rival).find((entry) => taken.has(nameOf(entry))) ?? rival.entry;
  return { verdict: 'conflict', now: first.event.at, stream: shared.stream };
}
