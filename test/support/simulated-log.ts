import { type Envelope, EnvelopeSchema, type QuestionEvent, QuestionEventSchema } from '#contracts';
import { COMMITTED_AT, DEADLINE_AT, entryOf, evolve, type QuestionState, unasked } from '#domain';
import { QUESTION_ID, TENANT } from './question-spec.js';

export type Entry = ReturnType<typeof entryOf>;
export type Verdict = 'appended' | 'conflict' | 'too_early' | 'too_late';

/**
 * The log of one question in memory, with the promises of the real one: one event per version, guards judged on a clock
 * that never runs backwards, commit times filled into the JSON text.
 */
export class SimulatedLog {
  readonly events: QuestionEvent[] = [];
  /** The view that was written with each event. */
  readonly views: Envelope[] = [];
  #committedAtMs = Number.NEGATIVE_INFINITY;

  /** `clockMs` is the machine's clock; unlike the log's it may be set back. */
  constructor(public clockMs: number) {}

  /** What a reader of the clock is told. */
  get now(): string {
    return instant(this.clockMs);
  }

  append(entry: Entry): Verdict {
    const atMs = Math.max(this.#committedAtMs, this.clockMs);
    const verdict = this.#judge(entry, instant(atMs));
    if (verdict !== 'appended') return verdict;
    const fill = (json: string): unknown => JSON.parse(filled(json, atMs, entry.guard.lifetimeMs));
    const event = { type: entry.type, at: instant(atMs), data: fill(entry.data) };
    this.events.push(QuestionEventSchema.parse(event));
    this.views.push(EnvelopeSchema.parse(fill(entry.view.envelope)));
    this.#committedAtMs = atMs;
    return verdict;
  }

  /** The state at a version, folded from the start. */
  stateAt(version: number): QuestionState {
    return this.events.slice(0, version).reduce(evolve, unasked(TENANT, QUESTION_ID) as QuestionState);
  }

  get state(): QuestionState {
    return this.stateAt(this.events.length);
  }

  #judge({ version, guard }: Entry, at: string): Verdict {
    if (version !== this.events.length + 1) return 'conflict';
    if (guard.notBefore !== undefined && at < guard.notBefore) return 'too_early';
    if (guard.notAfter !== undefined && at >= guard.notAfter) return 'too_late';
    return 'appended';
  }
}

function filled(json: string, atMs: number, lifetimeMs: number | undefined): string {
  const withCommit = json.replaceAll(JSON.stringify(COMMITTED_AT), JSON.stringify(instant(atMs)));
  if (lifetimeMs === undefined) return withCommit;
  return withCommit.replaceAll(JSON.stringify(DEADLINE_AT), JSON.stringify(instant(atMs + lifetimeMs)));
}

function instant(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
