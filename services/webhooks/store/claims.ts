import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { AttemptResult } from '../sending/sender.js';

/** A claim that is not renewed for so long is lost: another process sends the delivery then. */
const LEASE_SECONDS = 20;
const CLAIM = 'SELECT * FROM claim_deliveries($1, make_interval(secs => $2), $3)';
const RENEW = 'SELECT renew_claims($1, $2::uuid[], $3::uuid[], make_interval(secs => $4))';
const RELEASE = 'DELETE FROM webhook_claims WHERE webhook = $2 AND delivery = $3 AND claimant = $1';
const COMPLETE = `SELECT complete_deliveries($1, $2::uuid[], $3::uuid[], $4::timestamptz[], $5::integer[], $6::integer[],
  $7::text[], $8::text[], $9::text[], $10::boolean[], $11::integer[], $12::float8[],
  make_interval(secs => $13)) AS id`;

/** What a webhook says at the moment of a claim. */
export interface Target {
  readonly url: string;
  /** JSON text. */
  readonly headers: string;
  /** Sealed. */
  readonly secrets: readonly Buffer[];
  /** Sealed. */
  readonly ed25519: Buffer | null;
}

/** A delivery that is this process's to send. Those of one webhook that were claimed together share their target. */
export interface Claimed {
  readonly id: string;
  readonly webhook: string;
  readonly body: string;
  /** Attempts of its schedule so far. */
  readonly tries: number;
  /** How often its schedule has begun anew. */
  readonly replays: number;
  readonly manual: boolean;
  readonly target: Target;
}

type Key = Pick<Claimed, 'id' | 'webhook'>;

interface Row {
  readonly id: string;
  readonly webhook: string;
  readonly body: string;
  readonly tries: number;
  readonly replays: number;
  readonly is_manual: boolean;
  /** Null, like the three after it, in all rows of a webhook but one. */
  readonly url: string | null;
  readonly headers: string;
  readonly secrets: readonly Buffer[] | null;
  readonly ed25519: Buffer | null;
}

export interface Completed {
  readonly delivery: Pick<Claimed, 'id' | 'webhook' | 'manual' | 'replays'>;
  readonly result: AttemptResult;
  /** Until the next attempt; null when the schedule has come to its end, and after success. */
  readonly delayMs: number | null;
}

/** The claims of one process on deliveries. */
export class Claims {
  readonly #claimant = randomUUID();

  constructor(
    private readonly pool: pg.Pool,
    readonly leaseSeconds = LEASE_SECONDS,
  ) {}

  /** Claims up to so many that are due, of no webhook so many that more than that are in flight. */
  async claim(atMost: number): Promise<Claimed[]> {
    const { rows } = await this.pool.query<Row>({
      name: 'claim_deliveries',
      text: CLAIM,
      values: [this.#claimant, this.leaseSeconds, atMost],
    });
    const targets = new Map<string, Target>();
    for (const { webhook, url, headers, secrets, ed25519 } of rows) {
      if (url !== null) targets.set(webhook, { url, headers, secrets: secrets ?? [], ed25519 });
    }
    return rows.map(({ id, webhook, body, tries, replays, is_manual: manual }) => {
      return { id, webhook, body, tries, replays, manual, target: targets.get(webhook) as Target };
    });
  }

  /** Keeps claims for another lease. */
  async renew(deliveries: readonly Key[]): Promise<void> {
    const [webhooks, ids] = [deliveries.map(({ webhook }) => webhook), deliveries.map(({ id }) => id)];
    await this.pool.query(RENEW, [this.#claimant, webhooks, ids, this.leaseSeconds]);
  }

  /** Gives a claim back: the delivery is as due as it was. */
  async release({ id, webhook }: Key): Promise<void> {
    await this.pool.query(RELEASE, [this.#claimant, webhook, id]);
  }

  /** Records what came of attempts; returns the webhooks that have failed for longer than so many seconds. */
  async complete(completed: readonly Completed[], failingForSeconds: number): Promise<string[]> {
    const column = <T>(of: (one: Completed) => T) => completed.map(of);
    const { rows } = await this.pool.query<{ id: string }>({
      name: 'complete_deliveries',
      text: COMPLETE,
      values: [
        this.#claimant,
        column(({ delivery }) => delivery.webhook),
        column(({ delivery }) => delivery.id),
        column(({ result }) => result.at),
        column(({ result }) => result.durationMs),
        column(({ result }) => result.status),
        column(({ result }) => result.error),
        column(({ result }) => (result.response === null ? null : JSON.stringify(result.response.headers))),
        column(({ result }) => result.response?.body ?? null),
        column(({ delivery }) => delivery.manual),
        column(({ delivery }) => delivery.replays),
        column(({ delayMs }) => (delayMs === null ? null : delayMs / 1_000)),
        failingForSeconds,
      ],
    });
    return rows.map(({ id }) => id);
  }
}
