import type pg from 'pg';
import { Batcher } from './batcher.js';
import { isolateFaults } from './item-faults.js';

const MAX_BATCH = 1_000;
const MAX_WAITING = 50_000;

export interface QuestionKey {
  readonly tenant: string;
  readonly id: string;
  /** Whose membership in the question's room is wanted. */
  readonly subject: string;
}

export interface LoadedQuestion {
  readonly version: number;
  readonly defaultOption: string | null;
  readonly envelope: string;
  /** When the subject joined the room of the question; null for who is not in it. */
  readonly memberSince: string | null;
}

export interface Loaded {
  readonly question: LoadedQuestion | null;
  /** The database's clock, RFC 3339 with milliseconds: the one that judges deadlines. */
  readonly now: string;
}

interface Row {
  readonly now: string;
  readonly item: string | null;
  readonly version: number;
  readonly default_option: string | null;
  readonly envelope: string;
  readonly member_since: string | null;
}

/** Reads questions and the clock in one statement for all requests that wait meanwhile. A bad key fails alone. */
export class Loader {
  readonly #batcher = new Batcher<QuestionKey, Loaded>(
    (keys) => isolateFaults(keys, (some) => this.#load(some)),
    {
      maxBatch: MAX_BATCH,
      maxWaiting: MAX_WAITING,
    },
  );

  constructor(private readonly pool: pg.Pool) {}

  load(key: QuestionKey): Promise<Loaded> {
    return this.#batcher.submit(key);
  }

  async #load(keys: readonly QuestionKey[]): Promise<readonly Loaded[]> {
    const { rows } = await this.pool.query<Row>({
      name: 'load_questions',
      text: LOAD,
      values: [
        keys.map(({ tenant }) => tenant),
        keys.map(({ id }) => id),
        keys.map(({ subject }) => subject),
      ],
    });
    const now = (rows[0] as Row).now;
    const loaded: Loaded[] = keys.map(() => ({ question: null, now }));
    for (const row of rows) {
      if (row.item === null) continue;
      const { version, default_option: defaultOption, envelope, member_since: memberSince } = row;
      loaded[Number(row.item) - 1] = { question: { version, defaultOption, envelope, memberSince }, now };
    }
    return loaded;
  }
}

// The clock is a row of its own, so that it is there when nothing is found. It is read before the rows are.
const LOAD = `SELECT to_char(c.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS now, q.*
  FROM (SELECT date_trunc('milliseconds', clock_timestamp()) AS at OFFSET 0) c
  LEFT JOIN load_questions($1::text[], $2::uuid[], $3::text[]) q ON true`;
