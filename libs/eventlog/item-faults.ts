import pg from 'pg';

// Data exceptions, violated constraints, exceeded limits: the same item fails again, whoever is with it.
const FAULT_OF_AN_ITEM = /^(22|23|54)/;

/**
 * Runs a batch so that an item the database refuses fails alone: a refused batch, of which nothing was committed, is cut
 * in halves until the item is by itself. Any other error is everybody's.
 */
export async function isolateFaults<Item, Result>(
  items: readonly Item[],
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
): Promise<readonly (Result | Error)[]> {
  try {
    return await run(items);
  } catch (error) {
    if (items.length === 1 || !isFaultOfAnItem(error)) return items.map(() => asError(error));
    const middle = items.length >> 1;
    const first = await isolateFaults(items.slice(0, middle), run);
    return [...first, ...(await isolateFaults(items.slice(middle), run))];
  }
}

/** Whether it was this item that the database refused, so that others are not concerned. */
export function isFaultOfAnItem(error: unknown): boolean {
  return error instanceof pg.DatabaseError && FAULT_OF_AN_ITEM.test(error.code ?? '');
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
