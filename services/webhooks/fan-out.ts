import type pg from 'pg';
import { Batcher, isolateFaults } from '#eventlog';

const FAN_OUT =
  'SELECT fan_out($1::uuid[], $2::text[], $3::bigint[], $4::text[], $5::text[])::integer AS made';
const MAX_BATCH = 256;
const MAX_WAITING = 10_000;

/** Something that webhooks are told of. */
export interface Announcement {
  /** The id of the event. */
  readonly id: string;
  readonly tenant: string;
  /** In the log; null for what is not in it. */
  readonly position: number | null;
  readonly type: string;
  /** RFC 3339. */
  readonly at: string;
  /** JSON text. */
  readonly data: string;
}

/** What a receiver gets: the bytes are fixed here, and are the same at every attempt. */
export function bodyOf({ type, at, data }: Pick<Announcement, 'type' | 'at' | 'data'>): string {
  return `{"type":${JSON.stringify(type)},"timestamp":${JSON.stringify(at)},"data":${data}}`;
}

/** Makes deliveries out of events: those that come at the same time in one statement. */
export class FanOut {
  readonly #batcher: Batcher<Announcement, boolean>;

  /** `made` is called when there is something new to send. */
  constructor(pool: pg.Pool, made: () => void) {
    const run = async (items: readonly Announcement[]) => {
      if ((await fanOut(pool, items)) > 0) made();
      return items.map(() => true);
    };
    this.#batcher = new Batcher((items) => isolateFaults(items, run), {
      maxBatch: MAX_BATCH,
      maxWaiting: MAX_WAITING,
    });
  }

  /** Resolves when there is a delivery for each webhook that wants it: one, however often this is done. */
  async announce(announcement: Announcement): Promise<void> {
    await this.#batcher.submit(announcement);
  }
}

/** Returns how many deliveries there are that were not there before. */
export async function fanOut(
  client: Pick<pg.ClientBase, 'query'>,
  announcements: readonly Announcement[],
): Promise<number> {
  const column = <T>(of: (one: Announcement) => T) => announcements.map(of);
  const values = [
    column(({ id }) => id),
    column(({ tenant }) => tenant),
    column(({ position }) => position),
    column(({ type }) => type),
    column(bodyOf),
  ];
  const { rows } = await client.query<{ made: number }>({ name: 'fan_out', text: FAN_OUT, values });
  return rows[0]?.made ?? 0;
}
