import kafkajs, { type Kafka } from 'kafkajs';
import { isDatabaseUnavailable, type Logger } from '#platform';
import type { BusHealth } from '../contract.js';
import type { Delivery } from '../delivery.js';
import { pause } from '../signal.js';
import { BusTransport, type TransportOptions } from '../transport.js';
import { DeadLetters, type RawRecord } from './dead-letters.js';
import { GroupMember } from './group-member.js';
import type { Arrival } from './partition.js';
import { eventOf, type RecordedEvent } from './record.js';

const SESSION_TIMEOUT_MS = 15_000;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;
const NO_EVENT = { id: '', type: '', at: '', tenant: '', stream: '', version: 0, envelope: '' };

export interface KafkaTransportOptions extends TransportOptions {
  readonly kafka: Kafka;
  /** Where the events are; dead letters go to the one that `deadLetterTopicOf` names. Both must exist. */
  readonly topic: string;
  readonly logger: Logger;
  /** What the group is called in Kafka. Default: as here. */
  readonly groupId?: string;
  /** Runs before each attempt to join the group: makes the topics, say. */
  readonly prepare?: () => Promise<void>;
  /** A member that is silent for this long is taken for dead. Default 15 s. */
  readonly sessionTimeoutMs?: number;
}

type Received = RecordedEvent & { readonly record: RawRecord };

/** The bus over Kafka: a member of a consumer group of Kafka's. It keeps the contract of `contract.ts`. */
export class KafkaTransport extends BusTransport<Received> {
  #member: GroupMember | undefined;

  constructor(private readonly options: KafkaTransportOptions) {
    super({ isUnavailable: isInfrastructureAway, ...options });
  }

  protected state(): BusHealth {
    const partitions = this.#member?.partitions;
    if (partitions === undefined) return { ok: false, detail: 'not in its group yet' };
    const trouble = this.#member?.trouble;
    if (trouble !== undefined) return { ok: false, detail: trouble };
    return { ok: true, detail: partitions === 0 ? 'standby' : `active, has ${partitions} partitions` };
  }

  /** A consumer that fails is given up, and a new one made: what the old one remembers is not to be trusted. */
  protected async serve(stopping: AbortSignal): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS;
    while (!stopping.aborted) {
      const startedAt = performance.now();
      try {
        await this.#live(stopping);
      } catch (error) {
        if (this.failure === undefined) this.#log(error);
        this.failure = error;
      }
      if (performance.now() - startedAt > LONGEST_PAUSE_MS) pauseMs = FIRST_PAUSE_MS;
      await pause(pauseMs, stopping);
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    }
  }

  async #live(stopping: AbortSignal): Promise<void> {
    const { kafka, group, topic, from = 'start', sessionTimeoutMs = SESSION_TIMEOUT_MS } = this.options;
    const { groupId = group, prepare } = this.options;
    await prepare?.();
    const letters = new DeadLetters(kafka, groupId);
    const delivery = this.delivery({
      project: ({ envelope }) => envelope,
      bury: ({ record }, letter) => letters.write(record, letter),
    });
    const arrivalOf = (record: RawRecord) => this.#arrivalOf(record, delivery);
    const member = new GroupMember({
      kafka,
      group: groupId,
      topic,
      from,
      sessionTimeoutMs,
      arrivalOf,
      joined: () => {
        this.failure = undefined;
      },
    });
    this.#member = member;
    try {
      await member.run(stopping);
    } finally {
      this.#member = undefined;
      this.forget();
      await letters.close();
    }
  }

  #arrivalOf(record: RawRecord, delivery: Delivery<Received>): Arrival | undefined {
    const event = this.#eventOf(record);
    if (event instanceof Error) return this.#poison(record, event, delivery);
    if (this.handlers.of(event.type).length === 0) return undefined;
    return {
      question: event.stream,
      work: (stopping) => delivery.deliver({ ...event, record }, stopping),
    };
  }

  #eventOf({ message }: RawRecord): RecordedEvent | Error {
    try {
      return eventOf(message);
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  /** What is no event will not become one: it is put aside at once. */
  #poison(record: RawRecord, { message }: Error, delivery: Delivery<Received>): Arrival {
    const { group, topic } = this.options;
    const { partition, offset } = record;
    this.options.logger.warn({ group, topic, partition, offset }, 'a record that is no event is put aside');
    const received = { ...NO_EVENT, position: Number(offset), record };
    return {
      question: `poison ${offset}`,
      work: (stopping) => delivery.putAside(received, { attempts: 1, error: message }, stopping),
    };
  }

  #log(error: unknown): void {
    const { group, logger } = this.options;
    logger.warn(
      { group, error: String(error) },
      'a Kafka consumer failed; another is started until one works',
    );
  }
}

function isInfrastructureAway(error: unknown): boolean {
  return isDatabaseUnavailable(error) || error instanceof kafkajs.KafkaJSError;
}
