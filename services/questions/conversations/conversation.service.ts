import type { BeginSendBody, Owed, Principal, StartTurnBody } from '#contracts';
import { type ConversationCommand, conversationEntryOf } from '#domain';
import { type Entry, type EventLog, newId } from '#eventlog';
import { findResult, keyReused, RequestsInProgress, unavailable } from '#platform';
import type { Conversations, Decided, QuestionWriter } from '#settling';
import type { Request } from '../request.js';
import { Cancellations } from './cancellations.js';
import { conversationRefusal } from './refusals.js';
import { type ConversationResponse, NOTHING_STOPPED, responseOf } from './response.js';

/** Each failed try means that another process has changed the conversation, or that a deadline has passed. */
const MAX_TRIES = 32;

export interface Reply {
  /** JSON text of the response. */
  readonly json: string;
  readonly replayed: boolean;
}

/** The commands of conversations: load, decide, append; after a conflict again. */
export class ConversationService {
  readonly #inProgress = new RequestsInProgress();
  readonly #conversations: Conversations;
  readonly #cancellations: Cancellations;
  readonly #log: EventLog;

  constructor(writer: QuestionWriter) {
    this.#log = writer.log;
    this.#conversations = writer.conversations;
    this.#cancellations = new Cancellations(writer);
  }

  beginSend(id: string, { send = newId() }: BeginSendBody, request: Request): Promise<Reply> {
    const known = { fields: { send } };
    return this.#run({ id, request, known }, (given) => ({ kind: 'BeginSend', send, ...given }));
  }

  withdrawSend(id: string, send: string, request: Request): Promise<Reply> {
    return this.#run({ id, request }, (given) => ({
      kind: 'WithdrawSend',
      send,
      newContinuation: newId(),
      ...given,
    }));
  }

  startTurn(id: string, body: StartTurnBody, request: Request): Promise<Reply> {
    const { turn = newId(), send = null, continuation = null, leaseSeconds } = body;
    const start = { kind: 'StartTurn', turn, send, continuation, leaseSeconds } as const;
    return this.#run({ id, request }, (given) => ({ ...start, ...given }));
  }

  reachBoundary(id: string, turn: string, request: Request): Promise<Reply> {
    return this.#run({ id, request }, (given) => ({ kind: 'ReachBoundary', turn, ...given }));
  }

  finishTurn(id: string, turn: string, request: Request): Promise<Reply> {
    return this.#run({ id, request }, (given) => ({
      kind: 'FinishTurn',
      turn,
      newContinuation: newId(),
      ...given,
    }));
  }

  stop(id: string, reason: 'stopped' | 'deleted', request: Request): Promise<Reply> {
    return this.#run({ id, request, cancels: reason }, (given) => ({
      kind: 'StopConversation',
      reason,
      ...given,
    }));
  }

  /** JSON text of the envelopes of outcomes, in their order. */
  async answersJson(tenant: string, owed: readonly Owed[]): Promise<string> {
    // An outcome is a question's last version.
    const loaded = await Promise.all(
      owed.map(({ question: id }) => this.#log.load({ tenant, id, subject: '' })),
    );
    return `[${loaded.map(({ question }) => question?.envelope).join(',')}]`;
  }

  #run(work: Work, commandOf: CommandOf): Promise<Reply> {
    const { tenant } = work.request.principal;
    const { idempotent } = work.request;
    const run = () =>
      this.#conversations.inTurn({ tenant, id: work.id }, () => this.#carryOut(work, commandOf));
    return idempotent === undefined ? run() : this.#inProgress.run(idempotent, run);
  }

  async #carryOut(work: Work, commandOf: CommandOf): Promise<Reply> {
    const { id, request } = work;
    const { tenant, subject: by } = request.principal;
    let refusedAt = '';
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const key = { tenant, id };
      const decided = await this.#conversations.decide(key, (now) => commandOf({ by, now }), refusedAt);
      const { state, decision } = decided;
      if (decision.kind === 'nothing') return await this.#reply(NOTHING_STOPPED, request, false);
      if (decision.kind !== 'accepted') return await this.#refuse(decision.kind, work);
      const cancelled = await this.#cancelled(work, decided);
      // A deadline has passed meanwhile; that is recorded by now.
      if (cancelled === undefined) continue;
      const response = responseOf(decision.event);
      const result = await this.#log.append({
        entry: conversationEntryOf(key, state, decision),
        ...(cancelled.length > 0 && { together: cancelled }),
        correlation: request.correlation,
        ...(request.idempotent && {
          idempotency: { ...request.idempotent, result: JSON.stringify(response) },
        }),
      });
      if (result.verdict === 'appended') return await this.#reply(response, request, false);
      if (result.verdict === 'replayed') return await this.#replay(result.result, request);
      if (result.verdict === 'key_reused') throw keyReused();
      refusedAt = result.now;
    }
    throw unavailable();
  }

  async #cancelled(
    { cancels, request }: Work,
    { state, now }: Decided,
  ): Promise<readonly Entry[] | undefined> {
    if (cancels === undefined) return [];
    return await this.#cancellations.of(state, { ...request.principal, reason: cancels, now });
  }

  /** A refusal stands only when the request is no retry of one that was carried out. */
  async #refuse(kind: Refused, { request, known }: Work): Promise<Reply> {
    const { idempotent } = request;
    const first = idempotent && (await findResult(this.#log.pool, idempotent));
    if (first !== undefined) return await this.#replay(first, request);
    // It is being admitted already, which is what was asked for.
    if (kind === 'send_known') return await this.#reply(known ?? { fields: {} }, request, false);
    throw conversationRefusal(kind);
  }

  async #replay(remembered: string, request: Request): Promise<Reply> {
    return await this.#reply(JSON.parse(remembered) as ConversationResponse, request, true);
  }

  async #reply(
    { fields, answers }: ConversationResponse,
    { principal }: Request,
    replayed: boolean,
  ): Promise<Reply> {
    const json = JSON.stringify(fields);
    if (answers === undefined) return { json, replayed };
    const rest = `"answers":${await this.answersJson(principal.tenant, answers)}}`;
    return { json: `${json.slice(0, -1)}${json === '{}' ? '' : ','}${rest}`, replayed };
  }
}

interface Work {
  readonly id: string;
  readonly request: Request;
  /** Pending questions are cancelled with it. */
  readonly cancels?: 'stopped' | 'deleted';
  /** What to tell of a send that is being admitted already. */
  readonly known?: ConversationResponse;
}

type CommandOf = (given: { readonly by: Principal['subject']; readonly now: string }) => ConversationCommand;
type Refused = Exclude<Decided['decision']['kind'], 'accepted' | 'nothing'>;
