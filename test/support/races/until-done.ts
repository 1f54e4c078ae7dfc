import { setTimeout as pause } from 'node:timers/promises';
import { expect } from '@jest/globals';
import { Refused } from './participant.js';

const AGAIN_AFTER_MS = 5;

/** Sends again while the first request with the same Idempotency-Key is still running. */
export async function untilDone<Result>(send: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await send();
    } catch (error) {
      if (!(error instanceof Refused) || error.status !== 409) throw error;
      expect(error.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      await pause(AGAIN_AFTER_MS);
    }
  }
}
