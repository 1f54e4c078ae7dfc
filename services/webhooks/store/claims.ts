import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { AttemptResult } from '../sending/sender.js';

/** A claim that is not renewed for so long is lost: another process sends the delivery then. */
const LEASE_SECONDS = 20;
const CLAIM = 'SELECT * FROM claim_deliveries($1, make_interval(secs => $2), $3)';
const RENEW = `UPDATE webhook_deliveries SET claimed_until = clock_timestamp() + make_interval(secs => $2)
  WHERE claimant = $1 AND claimed_until IS NOT NULL`;
const COMPLETE = `SELECT complete_deliveries($1, $2::uuid[], $3::timestamptz[], $4::integer[], $5::integer[], $6::text[],
  $7::text[], $8::text[], $9::boolean[], $10::timestamptz[], make_interval(secs => $11)) AS id`;

/** A delivery that is this process's to send, with what its webhook says at this moment. */
export interface Claimed {
  readonly id: string;
  readonly webhook: string;
  readonly type: string;
  readonly body: string;
  /** Attempts of its schedule so far. */
  readonly tries: number;
  readonly manual: boolean;
  readonly url: string;
  /** JSON text. */
  readonly headers: string;
  readonly secrets: readonly Buffer[];
  readonly ed25519: Buffer | null;
}

export interface Completed {
  readonly delivery: Pick<Claimed, 'id' | 'manual'>;
  readonly result: AttemptResult;
  /** Null when the schedule has come to its end, and after success. */
  readonly nextAt: Date | null;
}

/** The claims of one process on deliveries. */
export class Claims {
  readonly #claimant = randomUUID();

  constructor(private readonly pool: pg.Pool) {}

  /** Claims up to so many that are due. */
  async claim(atMost: number): Promise<Claimed[]> {
    const { rows } = await this.pool.query<Omit<Claimed, 'manual'> & { is_manual: boolean }>({
      name: 'claim_deliveries',
      text: CLAIM,
      values: [this.#claimant, LEASE_SECONDS, atMost],
    });
    return rows.map(({ is_manual: manual, secrets, ...row }) => ({ ...row, manual, secrets: secrets ?? [] }));
  }

  async renew(): Promise<void> {
    await this.pool.query(RENEW, [this.#claimant, LEASE_SECONDS]);
  }

  /** Records what came of attempts; returns the webhooks that have failed for longer than so many seconds. */
  async complete(completed: readonly Completed[], failingForSeconds: number): Promise<string[]> {
    const column = <T>(of: (one: Completed) => T) => completed.map(of);
    const { rows } = await this.pool.query<{ id: string }>({
      name: 'complete_deliveries',
      text: COMPLETE,
      values: [
        this.#claimant,
        column(({ delivery }) => delivery.id),
        column(({ result }) => result.at),
        column(({ result }) => result.durationMs),
        column(({ result }) => result.status),
        column(({ result }) => result.error),
        column(({ result }) => (result.response === null ? null : JSON.stringify(result.response.headers))),
        column(({ result }) => result.response?.body ?? null),
        column(({ delivery }) => delivery.manual),
        column(({ nextAt }) => nextAt),
        failingForSeconds,
      ],
    });
    return rows.map(({ id }) => id);
  }
}
