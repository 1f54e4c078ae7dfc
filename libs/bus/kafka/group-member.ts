import type { Consumer, EachBatchPayload, Kafka } from 'kafkajs';
import { within } from '#platform';
import { CHECKPOINT_MS, MAX_HELD, STUCK_MS } from '../contract.js';
import { pause } from '../signal.js';
import type { RawRecord } from './dead-letters.js';
import { type Arrival, Partition } from './partition.js';

/** How long a fetch waits for records; what stops, or learns that the group changes, waits for it. */
const FETCH_WAIT_MS = 500;
const HEARTBEAT_MS = 1_000;
const REBALANCE_TIMEOUT_MS = 30_000;
const DISCONNECT_MS = 5_000;
const NONE: ReadonlyMap<number, string> = new Map();

export interface GroupMemberParts {
  readonly kafka: Kafka;
  readonly group: string;
  readonly topic: string;
  readonly from: 'start' | 'end';
  /** A member that is silent for this long is taken for dead, and its partitions go to others. */
  readonly sessionTimeoutMs: number;
  /** What is to be done with a record; undefined when it concerns nobody. */
  readonly arrivalOf: (record: RawRecord) => Arrival | undefined;
  /** Called each time that it has joined the group. */
  readonly joined: () => void;
}

/**
 * One life of a consumer: from joining its group until it fails or is stopped. Records are fetched into memory, up to a
 * bound, and handled beside the fetching: so a slow handler costs no heartbeat and no rebalance. An offset is committed
 * once everything before it is done.
 */
export class GroupMember {
  readonly #consumer: Consumer;
  readonly #partitions = new Map<number, Partition>();
  #memberId = '';
  #assigned: readonly number[] | undefined;
  #paused = false;
  #ending = false;
  #committing: Promise<void> | undefined;
  #commitFailure: unknown;

  constructor(private readonly parts: GroupMemberParts) {
    this.#consumer = parts.kafka.consumer({
      groupId: parts.group,
      sessionTimeout: parts.sessionTimeoutMs,
      rebalanceTimeout: REBALANCE_TIMEOUT_MS,
      heartbeatInterval: HEARTBEAT_MS,
      maxWaitTimeInMs: FETCH_WAIT_MS,
      allowAutoTopicCreation: false,
      retry: { initialRetryTime: 100, maxRetryTime: 1_000, retries: 5, restartOnFailure: async () => false },
    });
  }

  /** How many partitions are this member's; undefined while it is not in the group. */
  get partitions(): number | undefined {
    return this.#assigned?.length;
  }

  /** What keeps it from going on, if anything does. */
  get trouble(): string | undefined {
    if (this.#commitFailure !== undefined) return `progress can't be recorded: ${this.#commitFailure}`;
    for (const [partition, { stuckSince, uncommitted }] of this.#partitions) {
      if (stuckSince !== undefined && Date.now() - stuckSince > STUCK_MS)
        return `stuck in partition ${partition} at ${uncommitted ?? 'its start'}`;
    }
    return undefined;
  }

  /** Works until the signal is aborted; rejects when the consumer fails. Either way it has left the group then. */
  async run(stopping: AbortSignal): Promise<void> {
    const consumer = this.#consumer;
    const over = new AbortController();
    const crashed = new Promise<never>((_, reject) => {
      consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error));
    });
    crashed.catch(() => {});
    stopping.addEventListener('abort', () => this.#beginNothing(), { once: true, signal: over.signal });
    try {
      await consumer.connect();
      let ends = await this.#endsOfNewGroup();
      consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
        this.#joined(payload, ends);
        ends = NONE;
      });
      consumer.on(consumer.events.REBALANCING, () => void this.#commit());
      await consumer.subscribe({ topics: [this.parts.topic], fromBeginning: this.parts.from === 'start' });
      await consumer.run({
        autoCommit: false,
        eachBatchAutoResolve: false,
        eachBatch: async (payload) => this.#take(payload),
      });
      await Promise.race([crashed, this.#commitUntil(AbortSignal.any([stopping, over.signal]))]);
      await this.#drain();
      await this.#committing;
      await this.#commit();
    } finally {
      over.abort();
      this.#assigned = undefined;
      // Nothing of this life may still run when the next one begins.
      await Promise.all([this.#drain(), within(DISCONNECT_MS, consumer.disconnect()).catch(() => {})]);
    }
  }

  /** A group that has committed nothing yet begins where the topic ends now, and stands by that. */
  async #endsOfNewGroup(): Promise<ReadonlyMap<number, string>> {
    const { kafka, group, topic, from } = this.parts;
    if (from === 'start') return new Map();
    const admin = kafka.admin();
    await admin.connect();
    try {
      const [known] = await admin.fetchOffsets({ groupId: group, topics: [topic] });
      const fresh = new Set(
        known?.partitions.filter(({ offset }) => offset === '-1').map((one) => one.partition),
      );
      const ends = await admin.fetchTopicOffsets(topic);
      return new Map(ends.filter((end) => fresh.has(end.partition)).map((end) => [end.partition, end.high]));
    } finally {
      await admin.disconnect();
    }
  }

  #joined(
    { memberId, memberAssignment }: { memberId: string; memberAssignment: Record<string, number[]> },
    ends: ReadonlyMap<number, string>,
  ): void {
    const { topic } = this.parts;
    const assigned = memberAssignment[topic] ?? [];
    // A member that was taken for dead, and comes back as another, may have lost them for a while.
    const kept = memberId === this.#memberId ? assigned : [];
    for (const [number, partition] of this.#partitions) {
      if (kept.includes(number)) continue;
      partition.stop();
      this.#partitions.delete(number);
    }
    for (const number of assigned) {
      const end = ends.get(number);
      if (end === undefined) continue;
      this.#consumer.seek({ topic, partition: number, offset: end });
      this.#partitions.set(number, this.#newPartition(Number(end), false));
    }
    this.#memberId = memberId;
    this.#assigned = assigned;
    this.parts.joined();
  }

  #take({ batch, resolveOffset }: EachBatchPayload): void {
    const { topic, partition: number, messages } = batch;
    const [first] = messages;
    if (first === undefined || this.#paused) return;
    let partition = this.#partitions.get(number);
    if (partition === undefined) {
      partition = this.#newPartition(Number(first.offset), true);
      this.#partitions.set(number, partition);
    }
    const now = Date.now();
    for (const message of messages) {
      const offset = Number(message.offset);
      if (offset < partition.next) continue;
      const record = { topic, partition: number, offset: message.offset, message };
      partition.accept(offset, this.parts.arrivalOf(record), now);
    }
    // Where to fetch on from; what is committed is another matter.
    resolveOffset((messages.at(-1) ?? first).offset);
    if (this.#held >= MAX_HELD) this.#pauseAll();
  }

  get #held(): number {
    let held = 0;
    for (const partition of this.#partitions.values()) held += partition.held;
    return held;
  }

  #newPartition(first: number, committed: boolean): Partition {
    const advanced = () => {
      if (this.#paused && !this.#ending && this.#held < MAX_HELD / 2) this.#resumeAll();
    };
    return new Partition({ first, committed, advanced });
  }

  #pauseAll(): void {
    this.#paused = true;
    // Before it has joined there is nothing to pause.
    if (this.#assigned !== undefined) this.#consumer.pause([{ topic: this.parts.topic }]);
  }

  #resumeAll(): void {
    this.#paused = false;
    this.#consumer.resume([{ topic: this.parts.topic }]);
  }

  #beginNothing(): void {
    this.#ending = true;
    this.#pauseAll();
    for (const partition of this.#partitions.values()) partition.stop();
  }

  async #drain(): Promise<void> {
    await Promise.all([...this.#partitions.values()].map((partition) => partition.drain()));
  }

  async #commitUntil(ending: AbortSignal): Promise<void> {
    while (!ending.aborted) {
      await pause(CHECKPOINT_MS, ending);
      await this.#commit();
    }
  }

  /** Joins the commit that is under way, if one is. Never rejects: the next one tries again. */
  #commit(): Promise<void> {
    this.#committing ??= this.#commitAll().finally(() => {
      this.#committing = undefined;
    });
    return this.#committing;
  }

  async #commitAll(): Promise<void> {
    const { topic } = this.parts;
    const due = [...this.#partitions].flatMap(([number, partition]) => {
      const offset = partition.uncommitted;
      return offset === undefined ? [] : [{ number, partition, offset }];
    });
    if (due.length === 0) return;
    try {
      await this.#consumer.commitOffsets(
        due.map(({ number, offset }) => ({ topic, partition: number, offset: String(offset) })),
      );
      for (const { partition, offset } of due) partition.committed(offset);
      this.#commitFailure = undefined;
    } catch (error) {
      this.#commitFailure = error;
    }
  }
}
