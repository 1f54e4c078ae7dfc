import { collectDefaultMetrics, Histogram, Registry } from 'prom-client';

export { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** The metrics of one process, in the Prometheus text format. */
export function createMetrics(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}

const DURATION_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60];

/** Observes requests by route and status; label children are kept, because looking them up costs more than observing. */
export class RequestMetrics {
  readonly #durations: Histogram<'method' | 'route' | 'status'>;
  readonly #children = new Map<string, Histogram.Internal<'method' | 'route' | 'status'>>();

  constructor(registry: Registry) {
    this.#durations = new Histogram({
      name: 'settled_http_request_duration_seconds',
      help: 'Time from the arrival of a request to the end of its response; waits include the time they waited',
      labelNames: ['method', 'route', 'status'],
      buckets: DURATION_BUCKETS_SECONDS,
      registers: [registry],
    });
  }

  observe(request: { method: string; route: string; status: number; seconds: number }): void {
    const { method, route, seconds } = request;
    const status = String(request.status);
    const name = `${method} ${route} ${status}`;
    let child = this.#children.get(name);
    if (child === undefined) {
      child = this.#durations.labels({ method, route, status });
      this.#children.set(name, child);
    }
    child.observe(seconds);
  }
}
