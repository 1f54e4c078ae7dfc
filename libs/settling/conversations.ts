import {
  type Conversation,
  type ConversationCommand,
  type ConversationDecision,
  type ConversationKey,
  conversationEntryOf,
  decideConversation,
  nextLapse,
  UNMENTIONED,
} from '#domain';
import { type EventLog, newId, readConversation } from '#eventlog';
import { unavailable } from '#platform';
import { OneAtATime } from './one-at-a-time.js';

/** One lapse is recorded in each; a conversation rarely has more than a turn and a few sends. */
const MAX_TRIES = 200;

/** A conversation as the database had it at a moment of its clock, with nothing lapsed that is not recorded. */
export interface SeenConversation {
  readonly state: Conversation;
  readonly now: string;
}

export interface Decided extends SeenConversation {
  readonly decision: Exclude<ConversationDecision, { kind: 'overdue' | 'not_due' }>;
}

/** The conversations of one log. What has lapsed is recorded before anything else is seen or decided. */
export class Conversations {
  readonly #turns = new OneAtATime();

  constructor(private readonly log: EventLog) {}

  /**
   * Commands of one conversation would only be in each other's way: in this process they take turns. Other processes are
   * kept out by the expected version.
   */
  inTurn<Result>({ tenant, id }: ConversationKey, work: () => Promise<Result>): Promise<Result> {
    return this.#turns.run(`${tenant}\n${id}`, work);
  }

  /**
   * `notBefore` is a time that the log has told of: its clock never runs backwards, the database's may have been set.
   */
  async see(key: ConversationKey, notBefore = ''): Promise<SeenConversation> {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const { state, now } = await this.#read(key, notBefore);
      const lapse = nextLapse(state);
      if (lapse === undefined || lapse.until > now) return { state, now };
      await this.recordLapse(key, state, now);
    }
    throw unavailable();
  }

  async decide(
    key: ConversationKey,
    commandAt: (now: string) => ConversationCommand,
    notBefore = '',
  ): Promise<Decided> {
    const { state, now } = await this.see(key, notBefore);
    const decision = decideConversation(commandAt(now), state);
    if (decision.kind === 'overdue' || decision.kind === 'not_due')
      throw new Error('a lapse is not recorded');
    return { state, now, decision };
  }

  /** Whether it was this call that recorded it; if not, somebody else has changed the conversation. */
  async recordLapse(key: ConversationKey, state: Conversation, now: string): Promise<boolean> {
    const decision = decideConversation({ kind: 'LapseConversation', now, newContinuation: newId() }, state);
    if (decision.kind !== 'accepted') return false;
    const entry = conversationEntryOf(key, state, decision);
    const { verdict } = await this.log.append({ entry, correlation: 'lapse' });
    return verdict === 'appended';
  }

  async #read(key: ConversationKey, notBefore: string): Promise<SeenConversation> {
    const { state, now } = await readConversation(this.log.pool, key);
    return {
      state: state === null ? UNMENTIONED : (JSON.parse(state) as Conversation),
      now: now > notBefore ? now : notBefore,
    };
  }
}
