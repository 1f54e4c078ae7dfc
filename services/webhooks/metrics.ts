import type pg from 'pg';
import { Counter, Gauge, Histogram, type Registry } from '#platform';
import type { AttemptResult } from './sending/sender.js';

const BUCKETS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60];
const WAITING = `SELECT count(*)::integer AS due,
    coalesce(extract(epoch FROM clock_timestamp() - min(next_attempt_at)), 0)::float8 AS age
  FROM webhook_deliveries WHERE status = 'pending' AND next_attempt_at <= clock_timestamp()`;
const FAILING = `SELECT count(*)::integer AS failing FROM webhooks
  WHERE failures >= 10 AND enabled AND deleted_at IS NULL`;

/** Counts attempts, and looks at what is due when somebody asks. */
export class WebhookMetrics {
  readonly #attempts: Counter<'outcome'>;
  readonly #durations: Histogram;

  constructor(registry: Registry, pool: pg.Pool, inFlight: () => number) {
    const registers = [registry];
    this.#attempts = new Counter({
      name: 'settled_webhook_attempts_total',
      help: 'Attempts by outcome: delivered, or the class of what went wrong',
      labelNames: ['outcome'],
      registers,
    });
    this.#durations = new Histogram({
      name: 'settled_webhook_attempt_duration_seconds',
      help: 'From the begin of an attempt to the end of its response',
      buckets: BUCKETS_SECONDS,
      registers,
    });
    new Gauge({
      name: 'settled_webhook_in_flight',
      help: 'Attempts that this process is making',
      registers,
      collect() {
        this.set(inFlight());
      },
    });
    const due = new Gauge({
      name: 'settled_webhook_due',
      help: 'Deliveries that are due, in flight or not',
      registers,
    });
    const failing = new Gauge({
      name: 'settled_webhook_failing',
      help: 'Webhooks whose last ten attempts have failed: they are tried one at a time',
      registers,
    });
    new Gauge({
      name: 'settled_webhook_oldest_due_seconds',
      help: 'How long the oldest of them has been due',
      registers,
      async collect() {
        try {
          const { rows } = await pool.query<{ due: number; age: number }>(WAITING);
          due.set(rows[0]?.due ?? 0);
          this.set(rows[0]?.age ?? 0);
          const { rows: troubled } = await pool.query<{ failing: number }>(FAILING);
          failing.set(troubled[0]?.failing ?? 0);
        } catch {
          // The database is away: readiness says so.
        }
      },
    });
  }

  attempted({ error, durationMs }: AttemptResult): void {
    this.#attempts.inc({ outcome: error ?? 'delivered' });
    this.#durations.observe(durationMs / 1_000);
  }
}
