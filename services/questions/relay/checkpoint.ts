import { randomUUID } from 'node:crypto';
import type { Consumer, Kafka } from 'kafkajs';
import { within } from '#platform';

const READ_TIMEOUT_MS = 30_000;
const FETCH_WAIT_MS = 100;
const DISCONNECT_MS = 2_000;

/** The last event that was published, and where to: neither another log nor other topics may go on from there. */
export interface Checkpoint {
  readonly position: number;
  /** The id of the event at that position. */
  readonly event: string;
  readonly topics: readonly string[];
}

/**
 * How far the relay has published, as its own topic says before a barrier; undefined when it never has. The barrier is
 * a committed record of the reader's: whoever sees it has seen all that was committed before.
 */
export async function readCheckpoint(
  kafka: Kafka,
  topic: string,
  barrier: string,
): Promise<Checkpoint | undefined> {
  const groupId = `${topic}.${randomUUID()}`;
  const consumer = kafka.consumer({ groupId, allowAutoTopicCreation: false, maxWaitTimeInMs: FETCH_WAIT_MS });
  try {
    await consumer.connect();
    await consumer.subscribe({ topics: [topic], fromBeginning: true });
    return await readUntil(consumer, barrier);
  } finally {
    await within(DISCONNECT_MS, consumer.disconnect()).catch(() => {});
    await forgetGroup(kafka, groupId);
  }
}

function readUntil(consumer: Consumer, barrier: string): Promise<Checkpoint | undefined> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(
      () => reject(new Error(`the checkpoint was not read in ${READ_TIMEOUT_MS} ms`)),
      READ_TIMEOUT_MS,
    );
    const done = (settle: () => void) => {
      clearTimeout(late);
      settle();
    };
    consumer.on(consumer.events.CRASH, ({ payload }) => done(() => reject(payload.error)));
    let last: Checkpoint | undefined;
    consumer
      .run({
        autoCommit: false,
        eachMessage: async ({ message: { key, value } }) => {
          const text = String(value);
          if (String(key) === 'checkpoint') last = JSON.parse(text) as Checkpoint;
          else if (text === barrier) done(() => resolve(last));
        },
      })
      .catch((error: unknown) => done(() => reject(error)));
  });
}

/** It has served. A broker removes empty groups by itself, only later. */
async function forgetGroup(kafka: Kafka, groupId: string): Promise<void> {
  const admin = kafka.admin();
  try {
    await admin.connect();
    await admin.deleteGroups([groupId]);
  } catch {
    // Nothing depends on it.
  } finally {
    await admin.disconnect().catch(() => {});
  }
}
