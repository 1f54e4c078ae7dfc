import { expect } from '@jest/globals';
import type { KafkaMessage } from 'kafkajs';
import type pg from 'pg';
import type { Envelope } from '#contracts';
import { eventOf } from '#kafka';
import { readTopic } from '../topic-reader.js';
import { inLanes } from './in-lanes.js';
import type { Participant } from './participant.js';
import { readStoredLog } from './stored-log.js';

/** A relay that takes over waits for its predecessor's lease and transaction to end. */
const WITHIN_MS = 60_000;

export interface Publication {
  /** How a process is told of Kafka. */
  readonly environment: {
    readonly KAFKA_BROKERS: string;
    readonly KAFKA_QUESTIONS_TOPIC: string;
    readonly KAFKA_OUTCOMES_TOPIC: string;
  };
  readonly connection: pg.ClientConfig;
  /** Who asked all the questions. */
  readonly agent: Participant;
}

/**
 * Reads both topics as a consumer of what is committed does, and fails unless they have the log's events once each, in the
 * order of each question, and the outcomes once each, as they can be fetched. Nobody may write meanwhile.
 */
export async function assertPublishedOnce({ environment, connection, agent }: Publication): Promise<void> {
  const { events, views } = await readStoredLog(connection);
  const read = (topic: string, count: number) =>
    readTopic({ brokers: environment.KAFKA_BROKERS.split(','), topic, count, withinMs: WITHIN_MS });

  const published = (await read(environment.KAFKA_QUESTIONS_TOPIC, events.length)).map(eventOf);
  expect(published.toSorted((a, b) => a.position - b.position).map(factsOf)).toEqual(events.map(factsOf));
  assertInOrder(published);

  const settled = views.filter(({ state }) => state !== 'pending');
  const outcomes = await read(environment.KAFKA_OUTCOMES_TOPIC, settled.length);
  expect(outcomes.map(keyOf).toSorted()).toEqual(settled.map(({ id }) => id).toSorted());
  const fetched = await inLanes(outcomes, (outcome) => agent.fetch(keyOf(outcome)));
  expect(outcomes.map(({ value }) => JSON.parse(String(value)) as Envelope)).toEqual(fetched);
}

interface Facts {
  readonly position: number;
  readonly id: string;
  readonly type: string;
  readonly tenant: string;
  readonly stream: string;
  readonly version: number;
}

function factsOf({ position, id, type, tenant, stream, version }: Facts): string {
  return JSON.stringify([position, id, type, tenant, stream, version]);
}

function assertInOrder(published: readonly Facts[]): void {
  const versions = new Map<string, number>();
  for (const { stream, version } of published) {
    expect(version).toBe((versions.get(stream) ?? 0) + 1);
    versions.set(stream, version);
  }
}

function keyOf({ key }: KafkaMessage): string {
  return String(key);
}
