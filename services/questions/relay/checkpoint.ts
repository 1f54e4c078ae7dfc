import { randomUUID } from 'node:crypto';
import type { Consumer, Kafka } from 'kafkajs';
import { within } from '#platform';

const READ_TIMEOUT_MS = 30_000;
const FETCH_WAIT_MS = 100;
const DISCONNECT_MS = 2_000;

/**
 * How far the relay has published, as its own topic says before a barrier; 0 when it has published nothing. The barrier is
 * a committed record of the reader's: whoever sees it has seen all that was committed before.
 */
export async function readCheckpoint(kafka: Kafka, topic: string, barrier: string): Promise<number> {
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

function readUntil(consumer: Consumer, barrier: string): Promise<number> {
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
    let position = 0;
    consumer
      .run({
        autoCommit: false,
        eachMessage: async ({ message: { key, value } }) => {
          const text = String(value);
          if (String(key) === 'checkpoint') position = (JSON.parse(text) as { position: number }).position;
          else if (text === barrier) done(() => resolve(position));
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
