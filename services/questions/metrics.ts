import type { EventLog } from '#eventlog';
import { Gauge, type Registry, type StreamGuard } from '#platform';
import type { WaitHub } from './waits/wait-hub.js';

/** What the questions service tells of itself, read when somebody asks for metrics. */
export function registerQuestionMetrics(registry: Registry, parts: MeasuredParts): void {
  const { log, hub, guard } = parts;
  const gauges: Record<string, [help: string, read: () => number]> = {
    settled_waits: ['Requests that wait for an outcome now', () => hub.size],
    settled_streams: ['Open inbox and event streams', () => guard.size],
    settled_log_position: ['Position of the last event that this process has seen', () => log.tail.position],
    settled_log_batches: ['Batches that this process has appended', () => log.appended.batches],
    settled_log_events: ['Events that this process has appended', () => log.appended.events],
    settled_log_refused: ['Appends that this process was refused', () => log.appended.refused],
  };
  for (const [name, [help, read]] of Object.entries(gauges)) {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  }
}

export interface MeasuredParts {
  readonly log: EventLog;
  readonly hub: WaitHub;
  readonly guard: StreamGuard;
}
