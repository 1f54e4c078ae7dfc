import type { LoggedEvent } from './entry.js';

const MAX_EVENTS = 4_096;
const MAX_CHARACTERS = 16 * 1024 * 1024;

/** The newest events in memory, without gaps, for readers that are nearly up to date. */
export class RecentEvents {
  #events: LoggedEvent[] = [];
  #characters = 0;

  add(events: readonly LoggedEvent[]): void {
    for (const event of events) {
      this.#events.push(event);
      this.#characters += sizeOf(event);
    }
    // Dropped in large steps, so that adding stays cheap.
    if (this.#events.length > 2 * MAX_EVENTS || this.#characters > MAX_CHARACTERS) this.#dropOldest();
  }

  /** The events after a position, or undefined when some of them are no longer in memory. */
  after(position: number, limit: number): LoggedEvent[] | undefined {
    const oldest = this.#events[0];
    if (oldest === undefined || position < oldest.position - 1) return undefined;
    const start = position - oldest.position + 1;
    return this.#events.slice(start, start + limit);
  }

  #dropOldest(): void {
    let dropped = 0;
    while (this.#events.length - dropped > MAX_EVENTS || this.#characters > MAX_CHARACTERS / 2) {
      this.#characters -= sizeOf(this.#events[dropped] as LoggedEvent);
      dropped += 1;
    }
    this.#events.splice(0, dropped);
  }
}

function sizeOf(event: LoggedEvent): number {
  return event.data.length + (event.envelope?.length ?? 0);
}
