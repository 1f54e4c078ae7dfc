import { type ConversationEvent, ConversationEventSchema } from '#contracts';
import {
  COMMITTED_AT,
  type Conversation,
  type ConversationCommand,
  type ConversationDecision,
  DEADLINE_AT,
  decideConversation,
  evolveConversation,
  UNMENTIONED,
} from '#domain';

export const HOST = 'agent:host';
const START_MS = Date.parse('2026-12-01T09:00:00.000Z');

type WithoutTime<Command> = Command extends ConversationCommand
  ? Omit<Command, 'now' | 'by' | 'newContinuation'> & { readonly by?: string }
  : never;

/**
 * A conversation on a log in memory, with the promises of the real one: guards are judged on its clock, and commit times are
 * filled into the JSON text of an event.
 */
export class SimulatedConversation {
  readonly events: ConversationEvent[] = [];
  #nowMs = START_MS;
  #continuations = 0;

  get now(): string {
    return new Date(this.#nowMs).toISOString();
  }

  get state(): Conversation {
    return this.events.reduce(evolveConversation, UNMENTIONED);
  }

  get last(): ConversationEvent | undefined {
    return this.events.at(-1);
  }

  pass(seconds: number): void {
    this.#nowMs += seconds * 1_000;
  }

  decide(command: WithoutTime<ConversationCommand>): ConversationDecision {
    const newContinuation = `c${this.#continuations + 1}`;
    const whole = { by: HOST, now: this.now, newContinuation, ...command } as ConversationCommand;
    return decideConversation(whole, this.state);
  }

  /** Decides and commits; what has lapsed is recorded first, as everybody does who meets it. */
  do(command: WithoutTime<ConversationCommand>): ConversationDecision['kind'] {
    for (;;) {
      const decision = this.decide(command);
      if (decision.kind === 'accepted') this.#commit(decision);
      if (decision.kind !== 'overdue') return decision.kind;
      this.do({ kind: 'LapseConversation' });
    }
  }

  #commit({ event, guard }: Extract<ConversationDecision, { kind: 'accepted' }>): void {
    const { notBefore = '', notAfter = '\uffff', lifetimeMs = 0 } = guard;
    if (this.now < notBefore || this.now >= notAfter) throw new Error(`${this.now} is against the guard`);
    const deadline = new Date(this.#nowMs + lifetimeMs).toISOString();
    const text = JSON.stringify(event)
      .replaceAll(JSON.stringify(COMMITTED_AT), JSON.stringify(this.now))
      .replaceAll(JSON.stringify(DEADLINE_AT), JSON.stringify(deadline));
    const committed = ConversationEventSchema.parse(JSON.parse(text));
    if ('continuation' in committed.data && committed.type !== 'conversation.turn_started')
      this.#continuations += committed.data.continuation === null ? 0 : 1;
    this.events.push(committed);
  }
}
