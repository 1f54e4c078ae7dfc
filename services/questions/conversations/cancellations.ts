import type { Envelope } from '#contracts';
import { type Conversation, decide, entryOf, expiryOf, stateOf } from '#domain';
import type { Entry, LoadedQuestion } from '#eventlog';
import type { QuestionWriter } from '#settling';

export interface Stop {
  readonly tenant: string;
  /** The owner of the conversation, who asked all of its questions. */
  readonly subject: string;
  readonly reason: 'stopped' | 'deleted';
  readonly now: string;
}

/** What a stop is to the questions that are pending in the conversation. */
export class Cancellations {
  constructor(private readonly writer: QuestionWriter) {}

  /**
   * The entries that cancel them, to be appended together with the stop; undefined when the deadline of one has passed: it
   * is expired by then. To be called by who has the turn of the conversation.
   */
  async of({ questions }: Conversation, stop: Stop): Promise<readonly Entry[] | undefined> {
    const { tenant } = stop;
    const loaded = await Promise.all(
      questions.map(({ id }) => this.writer.log.load({ tenant, id, subject: '' })),
    );
    const entries: Entry[] = [];
    const overdue: LoadedQuestion[] = [];
    for (const { question } of loaded) {
      if (question === null) continue;
      const state = stateOf(JSON.parse(question.envelope) as Envelope, question.defaultOption);
      const decision = decide(cancellationBy(stop), state);
      if (decision.kind === 'accepted') entries.push(entryOf(state, decision));
      if (decision.kind === 'overdue') overdue.push(question);
    }
    for (const question of overdue) await this.#expire(question, stop.now);
    return overdue.length > 0 ? undefined : entries;
  }

  async #expire(question: LoadedQuestion, now: string): Promise<void> {
    const entry = expiryOf(question, now);
    // Whatever the verdict, the next look finds it settled.
    if (entry !== undefined) await this.writer.appendInTurn({ entry, correlation: 'touch' });
  }
}

function cancellationBy({ subject: by, reason, now }: Stop) {
  return {
    kind: 'CancelQuestion',
    by,
    asAdmin: false,
    reason: `the conversation was ${reason}`,
    now,
  } as const;
}
