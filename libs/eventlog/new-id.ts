import { randomFillSync } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';

const RANDOM_BYTES = 16;
/** One draw of the system's randomness costs about as much for 256 ids as for one. */
const pool = new Uint8Array(256 * RANDOM_BYTES);
let used = pool.length;

let lastMs = 0;
let sequence = 0;

/** A UUIDv7 (RFC 9562, section 5.7), greater than any that this process made before. */
export function newId(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const random = pool.subarray(used, used + RANDOM_BYTES);
  used += RANDOM_BYTES;
  const nowMs = Date.now();
  if (nowMs > lastMs) {
    lastMs = nowMs;
    // 31 random bits leave room to count on for as long as a millisecond lasts.
    sequence = new DataView(random.buffer, random.byteOffset).getUint32(0) >>> 1;
  } else {
    sequence += 1;
  }
  return uuidv7({ random, msecs: lastMs, seq: sequence });
}
