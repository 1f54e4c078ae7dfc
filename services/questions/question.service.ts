import { type AskBody, LIFETIME_MAX_SECONDS } from '#contracts';
import {
  type CancelQuestion,
  decide,
  entryOf,
  type QuestionCommand,
  type SubmittedChoice,
  unasked,
} from '#domain';
import { type Entry, newId } from '#eventlog';
import { findResult, invalid, keyReused, RequestsInProgress, rememberResult, unavailable } from '#platform';
import type { QuestionWriter, WriteResult } from '#settling';
import { conversationRefusal } from './conversations/refusals.js';
import type { QuestionReader, Seen } from './question-reader.js';
import { type Refusal, refusalOf } from './refusals.js';
import { type Remembered, rememberedOf, rememberedText } from './remembered.js';
import type { Request } from './request.js';
import { type RoomStore } from './store/rooms.js';

/** Every failed try means that somebody else's was committed, and a question has two versions. */
const MAX_TRIES = 8;

export interface Attempt {
  readonly id: string;
  /** Whether this request, or the one that it retries, made the change. */
  readonly applied: boolean;
  /** The envelope after it. */
  readonly json: string;
  readonly replayed: boolean;
}

type SubmittedReason = Pick<CancelQuestion, 'reason' | 'errors'>;

/** The commands of questions: load, decide, append; after a conflict again. */
export class QuestionService {
  readonly #inProgress = new RequestsInProgress();

  constructor(
    private readonly writer: QuestionWriter,
    private readonly reader: QuestionReader,
    private readonly rooms: RoomStore,
  ) {}

  ask(body: AskBody, request: Request): Promise<Attempt> {
    return this.#once(request, async () => {
      await this.#checkAsk(body, request.principal.tenant);
      const state = unasked(request.principal.tenant, newId());
      const decision = decide({ kind: 'AskQuestion', asker: request.principal.subject, body }, state);
      if (decision.kind !== 'accepted') throw refusalOf(decision as Refusal);
      const entry = entryOf(state, decision);
      for (let tries = 0; tries < MAX_TRIES; tries += 1) {
        const result = await this.#append(entry, state.id, request);
        if (result.verdict === 'too_late' && result.stream === entry.stream)
          throw invalid([{ path: 'expiresAt', message: 'must be in the future' }]);
        const attempt = await this.#attemptOf(result, state.id, request);
        // Otherwise another request with the same key was faster: the next try finds what it did.
        if (attempt !== undefined) return attempt;
      }
      throw unavailable();
    });
  }

  answer(id: string, choice: SubmittedChoice, request: Request): Promise<Attempt> {
    const by = request.principal.subject;
    return this.#settle(id, request, ({ memberSince, now }) => {
      return { kind: 'AnswerQuestion', by, memberSince, choice, now };
    });
  }

  cancel(id: string, reason: SubmittedReason, request: Request): Promise<Attempt> {
    const { subject: by, scopes } = request.principal;
    const asAdmin = scopes.has('admin');
    return this.#settle(id, request, ({ now }) => ({ kind: 'CancelQuestion', by, asAdmin, ...reason, now }));
  }

  #settle(id: string, request: Request, command: (seen: Seen) => QuestionCommand): Promise<Attempt> {
    return this.#once(request, async () => {
      const { principal } = request;
      let refusedAt = '';
      for (let tries = 0; tries < MAX_TRIES; tries += 1) {
        const seen = await (tries === 0
          ? this.reader.seeQuickly(principal, id)
          : this.reader.see(principal, id, refusedAt));
        if (seen === undefined) return await this.#refuse({ kind: 'unknown_question' }, request);
        const decision = decide(command(seen), seen.snapshot.state);
        if (decision.kind === 'settled') return await this.#tellSettled(id, seen, request);
        // The clock moved past the deadline since the look: the next one settles it.
        if (decision.kind === 'overdue') continue;
        if (decision.kind !== 'accepted') return await this.#refuse(decision, request);
        const result = await this.#append(entryOf(seen.snapshot.state, decision), id, request);
        const attempt = await this.#attemptOf(result, id, request);
        if (attempt !== undefined) return attempt;
        if ('now' in result) refusedAt = result.now;
      }
      throw unavailable();
    });
  }

  async #append(entry: Entry, id: string, { correlation, idempotent }: Request): Promise<WriteResult> {
    if (idempotent === undefined) return await this.writer.append({ entry, correlation });
    const result = rememberedText({ id, version: entry.version, applied: true });
    return await this.writer.append({ entry, correlation, idempotency: { ...idempotent, result } });
  }

  /** Undefined when the state has moved on and the command must be decided again. */
  async #attemptOf(result: WriteResult, id: string, { principal }: Request): Promise<Attempt | undefined> {
    switch (result.verdict) {
      case 'appended':
        this.reader.clock.observe(result.event.at);
        return { id, applied: true, json: result.event.envelope ?? '', replayed: false };
      case 'replayed':
        return await this.#replay(principal.tenant, rememberedOf(result.result));
      case 'key_reused':
        throw keyReused();
      case 'not_owner':
      case 'conversation_full':
        throw conversationRefusal(result.verdict);
      case 'conflict':
      case 'too_early':
      case 'too_late':
      case 'not_member':
        this.reader.clock.observe(result.now);
        return undefined;
    }
  }

  async #tellSettled(id: string, { snapshot }: Seen, { principal, idempotent }: Request): Promise<Attempt> {
    const { version, json } = snapshot;
    if (idempotent !== undefined) {
      const isFirst = await rememberResult(
        this.writer.log.pool,
        idempotent,
        rememberedText({ id, version, applied: false }),
      );
      const first = isFirst ? undefined : await findResult(this.writer.log.pool, idempotent);
      if (first !== undefined) return await this.#replay(principal.tenant, rememberedOf(first));
    }
    return { id, applied: false, json, replayed: false };
  }

  /** A refusal stands only when the request is no retry of one that was carried out. */
  async #refuse(refusal: Refusal, { principal, idempotent }: Request): Promise<Attempt> {
    const first = idempotent && (await findResult(this.writer.log.pool, idempotent));
    if (first === undefined) throw refusalOf(refusal);
    return await this.#replay(principal.tenant, rememberedOf(first));
  }

  async #replay(tenant: string, { id, version, applied }: Remembered): Promise<Attempt> {
    const json = await this.reader.jsonAtVersion(tenant, id, version);
    if (json === undefined) throw new Error('a remembered version is not in the log');
    return { id, applied, json, replayed: true };
  }

  async #checkAsk({ scope, expiresAt }: AskBody, tenant: string): Promise<void> {
    if (scope.kind === 'room' && !(await this.rooms.exists(tenant, scope.room))) {
      throw invalid([{ path: 'scope.room', message: 'must be a room that exists' }]);
    }
    const lifetimeMs =
      expiresAt === undefined ? 0 : Date.parse(expiresAt) - Date.parse(this.reader.clock.now);
    if (lifetimeMs > LIFETIME_MAX_SECONDS * 1_000) {
      throw invalid([
        { path: 'expiresAt', message: `must be at most ${LIFETIME_MAX_SECONDS} seconds ahead` },
      ]);
    }
  }

  #once(request: Request, work: () => Promise<Attempt>): Promise<Attempt> {
    return request.idempotent === undefined ? work() : this.#inProgress.run(request.idempotent, work);
  }
}
