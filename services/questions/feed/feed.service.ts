import type { EventLog, LoggedEvent } from '#eventlog';

const PAGE = 500;

/** The log of a tenant, page by page, in position order. */
export class FeedService {
  constructor(private readonly log: EventLog) {}

  page(tenant: string, after: number, limit: number): Promise<LoggedEvent[]> {
    return this.log.readTenant(tenant, { after, limit });
  }

  /** Up to `limit` events after a position, as they are in the log by the time each page is read. */
  async *pages(tenant: string, after: number, limit: number): AsyncGenerator<LoggedEvent[]> {
    let position = after;
    for (let left = limit; left > 0; ) {
      const page = await this.page(tenant, position, Math.min(PAGE, left));
      const last = page.at(-1);
      if (last === undefined) return;
      yield page;
      position = last.position;
      left -= page.length;
    }
  }

  /** The same without an end: waits for what comes. Ends when `signal` does. */
  async *follow(tenant: string, after: number, signal: AbortSignal): AsyncGenerator<LoggedEvent[]> {
    let position = after;
    while (!signal.aborted) {
      const head = this.log.tail.position;
      const page = await this.page(tenant, position, PAGE);
      const last = page.at(-1);
      if (last === undefined) {
        await this.#more(head, signal);
        continue;
      }
      yield page;
      position = last.position;
    }
  }

  /** Resolves when the tail has moved past a position. */
  async #more(head: number, signal: AbortSignal): Promise<void> {
    if (this.log.tail.position > head) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        leave();
        signal.removeEventListener('abort', done);
        resolve();
      };
      const leave = this.log.tail.observe(done);
      signal.addEventListener('abort', done);
    });
  }
}

/** An event as REST shows it. */
export function eventJson({
  position,
  id,
  stream,
  version,
  type,
  schema,
  at,
  actor,
  data,
  hash,
}: LoggedEvent): string {
  const head = JSON.stringify({ position: String(position), id, stream, version, type, schema, at, actor });
  return `${head.slice(0, -1)},"data":${data},"hash":"${hash}"}`;
}
