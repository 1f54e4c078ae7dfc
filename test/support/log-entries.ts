import { randomUUID } from 'node:crypto';
import type { Append, Entry, Idempotency, QuestionView } from '#eventlog';

export const TENANT = 'acme';
export const ASKER = 'agent:deployer';
export const RESPONDER = 'user:ada';

// The holes that the log fills at the commit, as they stand in JSON.
export const COMMITTED_AT = '\ud800';
export const DEADLINE_AT = '\ud801';

type Change = Partial<Omit<Entry, 'view'>> & {
  readonly view?: Partial<QuestionView> | null;
  readonly idempotency?: Idempotency;
};

/** The append of a question's first event. */
export function ask(id: string = randomUUID(), change: Change = {}): Append {
  const data = { prompt: 'Deploy?', askedAt: COMMITTED_AT, expiresAt: DEADLINE_AT };
  return append(id, {
    version: 1,
    type: 'question.asked',
    actor: ASKER,
    data: JSON.stringify(data),
    ...change,
  });
}

/** The append of the event that settles a question. */
export function answer(id: string, change: Change = {}): Append {
  const data = JSON.stringify({ by: RESPONDER });
  const view = { state: 'answered', ...change.view };
  return append(id, { version: 2, type: 'question.answered', actor: RESPONDER, data, ...change, view });
}

/** The append of an event that has no question's view. */
export function note(stream: string, version: number, change: Change = {}): Append {
  const { idempotency, ...entry } = change;
  const base = { tenant: TENANT, stream, version, type: 'noted', data: '{}', actor: ASKER, guard: {} };
  return {
    entry: { ...base, ...entry, view: null },
    correlation: 'test',
    ...(idempotency && { idempotency }),
  };
}

export function idempotency(key: string, request: string, result: string): Idempotency {
  return { key: Buffer.from(key), request: Buffer.from(request), result };
}

function append(id: string, { idempotency, view, ...entry }: Change): Append {
  const guard = entry.version === 1 ? { lifetimeMs: 60_000 } : {};
  const base = {
    tenant: TENANT,
    stream: `question:${id}`,
    version: 1,
    type: '',
    data: '{}',
    actor: ASKER,
    guard,
  };
  const shown = view === null ? null : { ...viewOf(id, entry.version ?? 1), ...view };
  return {
    entry: { ...base, ...entry, view: shown },
    correlation: 'test',
    ...(idempotency && { idempotency }),
  };
}

function viewOf(id: string, version: number): QuestionView {
  return {
    id,
    state: 'pending',
    asker: ASKER,
    addressee: RESPONDER,
    conversation: null,
    expiresAt: version === 1 ? null : '2100-01-01T00:00:00.000Z',
    defaultOption: null,
    envelope: JSON.stringify({ id, version, askedAt: COMMITTED_AT, expiresAt: DEADLINE_AT }),
  };
}
