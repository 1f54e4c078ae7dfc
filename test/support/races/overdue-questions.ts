import { v7 as uuidv7 } from 'uuid';
import { AskBodySchema } from '#contracts';
import { decide, entryOf, unasked } from '#domain';
import type { EventLog } from '#eventlog';
import { NO, YES } from './participant.js';

export const TENANT = 'default';
export const ASKER = 'agent:deployer';

export interface ShortLived {
  readonly lifetimeMs: number;
  /** Who is asked. */
  readonly user: string;
}

/** Asks straight into the log, where a question may live for less than the second that REST grants. Returns the ids. */
export async function askShortLived(
  log: EventLog,
  count: number,
  { lifetimeMs, user }: ShortLived,
): Promise<string[]> {
  const wire = { prompt: 'Deploy?', options: [YES, NO], scope: { kind: 'direct', user } };
  const body = { ...AskBodySchema.parse(wire), expiresIn: lifetimeMs / 1_000 };
  return await Promise.all(
    Array.from({ length: count }, async () => {
      const id = uuidv7();
      const state = unasked(TENANT, id);
      const decision = decide({ kind: 'AskQuestion', asker: ASKER, body }, state);
      if (decision.kind !== 'accepted') throw new Error(`not asked: ${decision.kind}`);
      const { verdict } = await log.append({ entry: entryOf(state, decision), correlation: 'test' });
      if (verdict !== 'appended') throw new Error(`not asked: ${verdict}`);
      return id;
    }),
  );
}
