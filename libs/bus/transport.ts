import { type CustomTransportStrategy, type MessageHandler, Server } from '@nestjs/microservices';
import { isDatabaseUnavailable } from '#platform';
import { type BusHealth, MAX_CONCURRENT, RETRY, type RetryLimits } from './contract.js';
import { type Delivered, Delivery, type DeliverySettings } from './delivery.js';
import { EventHandlers } from './event-handlers.js';
import { Slots } from './slots.js';
import { transportOf } from './subscribe.js';

export interface TransportOptions {
  readonly group: string;
  /** Where a group that is new begins: at the first event there is (default), or at the next one that comes. */
  readonly from?: 'start' | 'end';
  readonly retry?: Partial<RetryLimits>;
  /** Whether an error of a handler says that infrastructure is away, so that it is tried again without bound. */
  readonly isUnavailable?: (error: unknown) => boolean;
}

/** What the transports of the bus have in common: Nest's side of it, and their health. */
export abstract class BusTransport<Event extends Delivered>
  extends Server
  implements CustomTransportStrategy
{
  override readonly transportId: symbol;
  override readonly propagatesEventHandlerErrors = true;
  protected readonly handlers = new EventHandlers();
  /** What keeps the member itself from working; undefined when nothing does. */
  protected failure: unknown;
  readonly #closing = new AbortController();
  readonly #held = new Map<Event, string>();
  #serving: Promise<void> | undefined;

  constructor(private readonly settings: TransportOptions) {
    super();
    this.transportId = transportOf(settings.group);
  }

  /** Works until the signal is aborted, and recovers from everything by itself. */
  protected abstract serve(stopping: AbortSignal): Promise<void>;

  /** How the member is, as long as nothing of what follows is wrong. */
  protected abstract state(): BusHealth;

  /** Each handler is kept by itself: see `EventHandlers`. */
  override addHandler(pattern: unknown, handler: MessageHandler, isEventHandler = false): void {
    if (!isEventHandler) throw new Error(`The bus carries events, and ${String(pattern)} is a request`);
    const type = this.normalizePattern(pattern as string);
    this.handlers.add(type, handler);
    this.messageHandlers.set(type, handler);
  }

  /** Returns at once: whether this member is active, and whether it works, is what `health` says. */
  listen(callback: () => void): void {
    this.#serving = this.serve(this.#closing.signal);
    callback();
  }

  /** Lets what runs finish, within `DRAIN_MS`, and records the progress. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#serving;
  }

  health(): BusHealth {
    if (this.#serving === undefined) return { ok: false, detail: 'not started' };
    if (this.#closing.signal.aborted) return { ok: false, detail: 'stopped' };
    if (this.failure !== undefined) return { ok: false, detail: String(this.failure) };
    const [held] = this.#held;
    if (held !== undefined) return { ok: false, detail: `event ${held[0].position} waits: ${held[1]}` };
    return this.state();
  }

  on(): never {
    throw new Error('The transports of the bus have no events of their own');
  }

  unwrap<T>(): T {
    return this.settings as T;
  }

  /** For one term of this member's: what it then holds is let go with `forget`. */
  protected delivery(own: Pick<DeliverySettings<Event>, 'project' | 'bury'>): Delivery<Event> {
    const { retry, isUnavailable = isDatabaseUnavailable } = this.settings;
    return new Delivery({
      ...own,
      handlers: this.handlers,
      retry: { ...RETRY, ...retry },
      slots: new Slots(MAX_CONCURRENT),
      isUnavailable,
      trouble: (event, what) => {
        if (what === undefined) this.#held.delete(event);
        else this.#held.set(event, what);
      },
    });
  }

  protected forget(): void {
    this.#held.clear();
  }
}
