import type pg from 'pg';
import { Counter, Gauge, Histogram, type Registry } from '#platform';
import type { AttemptResult } from './sending/sender.js';

const BUCKETS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60];
/** Of what could be sent: what waits for a webhook to be enabled is not late. */
const QUEUE = `SELECT count(d.id)::integer AS due,
    coalesce(extract(epoch FROM clock_timestamp() - min(greatest(d.next_attempt_at, d.created_at))), 0)::float8 AS oldest,
    (SELECT count(*)::integer FROM webhooks w WHERE w.failures >= 10 AND w.enabled AND w.deleted_at IS NULL) AS failing
  FROM webhooks w JOIN webhook_deliveries d ON d.webhook = w.id
  WHERE w.enabled AND w.deleted_at IS NULL AND d.status = 'pending' AND d.next_attempt_at <= clock_timestamp()`;

interface Queue {
  readonly due: number;
  readonly oldest: number;
  readonly failing: number;
}

const CONTINUATIONS = `SELECT count(*)::integer AS pending,
    coalesce(extract(epoch FROM clock_timestamp() - min(begun_at)), 0)::float8 AS oldest FROM continuations`;

interface Continuations {
  readonly pending: number;
  readonly oldest: number;
}

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
    const gauges = <Look>(look: () => Promise<Look | undefined>) => {
      const shared = once(look);
      return (name: string, help: string, of: (look: Look) => number) =>
        new Gauge({
          name,
          help,
          registers,
          async collect() {
            const seen = await shared();
            if (seen !== undefined) this.set(of(seen));
          },
        });
    };
    const queue = gauges(() => rowOf<Queue>(pool, QUEUE));
    queue('settled_webhook_due', 'Deliveries that are due, in flight or not', ({ due }) => due);
    queue(
      'settled_webhook_oldest_due_seconds',
      'How long the oldest of them has been due',
      ({ oldest }) => oldest,
    );
    queue(
      'settled_webhook_failing',
      'Webhooks whose last ten attempts have failed: they are tried one at a time',
      ({ failing }) => failing,
    );
    const continuations = gauges(() => rowOf<Continuations>(pool, CONTINUATIONS));
    continuations(
      'settled_continuations_pending',
      'Continuations that nobody has taken',
      ({ pending }) => pending,
    );
    continuations(
      'settled_continuations_oldest_seconds',
      'How long the oldest of them has been pending',
      ({ oldest }) => oldest,
    );
  }

  attempted({ error, durationMs }: AttemptResult): void {
    this.#attempts.inc({ outcome: error ?? 'delivered' });
    this.#durations.observe(durationMs / 1_000);
  }
}

/** Undefined while the database is away: readiness says so. */
async function rowOf<Row>(pool: pg.Pool, sql: string): Promise<Row | undefined> {
  try {
    return (await pool.query(sql)).rows[0] as Row;
  } catch {
    return undefined;
  }
}

/** One look for all who ask at the same time, as the gauges of a page of metrics do. */
function once<Look>(look: () => Promise<Look>): () => Promise<Look> {
  let looking: Promise<Look> | undefined;
  return () => {
    looking ??= look().finally(() => {
      looking = undefined;
    });
    return looking;
  };
}
