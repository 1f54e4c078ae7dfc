/** A retry comes this much earlier or later than planned, so that many do not come at once. */
const JITTER = 0.2;
/** A receiver that asks for more patience is tried again after this all the same. */
const RETRY_AFTER_MAX_MS = 24 * 3_600_000;

export interface Failure {
  /** How many attempts of the schedule there have been, this one included: 1 after the first. */
  readonly tries: number;
  readonly retryAfterMs?: number | undefined;
}

/**
 * How long after a failed attempt the next one is due; undefined when the schedule has come to its end. `random` is from 0
 * to 1.
 */
export function nextDelayMs(
  schedule: readonly number[],
  { tries, retryAfterMs = 0 }: Failure,
  random: number,
): number | undefined {
  const planned = schedule[tries - 1];
  if (planned === undefined) return undefined;
  const jittered = planned * (1 + JITTER * (2 * random - 1));
  return Math.round(Math.max(jittered, Math.min(retryAfterMs, RETRY_AFTER_MAX_MS)));
}
