import { Counter, Gauge, type Registry } from '#platform';

export interface RelayFigures {
  leading(): boolean;
  /** 0 where it does not lead. */
  lagEvents(): number;
  lagMs(): number;
  readonly counts: { readonly published: number; readonly failures: number };
}

export function registerRelayMetrics(registry: Registry, figures: RelayFigures): void {
  const registers = [registry];
  const gauge = (name: string, help: string, value: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(value());
      },
    });
  const counter = (name: string, help: string, value: () => number) =>
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(value());
      },
    });
  gauge('settled_relay_leader', 'Whether this process publishes to Kafka', () => Number(figures.leading()));
  gauge(
    'settled_relay_lag_events',
    'Events of the log that are not published yet; 0 where it does not lead',
    figures.lagEvents,
  );
  gauge(
    'settled_relay_lag_seconds',
    'How long there have been such events without a break',
    () => figures.lagMs() / 1_000,
  );
  counter('settled_relay_published_events_total', 'Events published', () => figures.counts.published);
  counter('settled_relay_failures_total', 'Terms that ended with an error', () => figures.counts.failures);
}
