import { Controller, Inject, Req, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Handles, JsonText, notFound, type RequestOf } from '#platform';
import { type Attempt, QuestionService } from '../question.service.js';
import { QuestionReader } from '../question-reader.js';
import { markReplayed, requestOf } from './request-of.js';
import { answerRoute, askRoute, cancelRoute, fetchRoute, listRoute } from './routes.js';

@Controller()
export class QuestionsController {
  constructor(
    @Inject(QuestionService) private readonly questions: QuestionService,
    @Inject(QuestionReader) private readonly reader: QuestionReader,
  ) {}

  @Handles(askRoute)
  async ask(@Req() request: RequestOf<typeof askRoute>, @Res({ passthrough: true }) reply: FastifyReply) {
    const attempt = await this.questions.ask(request.input.body, requestOf(request, askRoute.path));
    reply.header('location', `/v1/questions/${attempt.id}`);
    if (attempt.replayed) markReplayed(reply);
    return new JsonText(attempt.json);
  }

  @Handles(answerRoute)
  async answer(
    @Req() request: RequestOf<typeof answerRoute>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { params, body, bodyErrors } = request.input;
    const choice = bodyErrors === undefined ? { body } : { errors: bodyErrors };
    const attempt = await this.questions.answer(params.id, choice, requestOf(request, `answer ${params.id}`));
    return attemptJson(attempt, reply);
  }

  @Handles(cancelRoute)
  async cancel(
    @Req() request: RequestOf<typeof cancelRoute>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { params, body, bodyErrors: errors } = request.input;
    const reason = errors === undefined ? { reason: body.reason ?? null } : { reason: null, errors };
    const attempt = await this.questions.cancel(params.id, reason, requestOf(request, `cancel ${params.id}`));
    return attemptJson(attempt, reply);
  }

  @Handles(fetchRoute)
  async fetch(@Req() request: RequestOf<typeof fetchRoute>, @Res({ passthrough: true }) reply: FastifyReply) {
    const { params, query } = request.input;
    const seen = await this.reader.see(request.principal, params.id);
    if (seen === undefined) throw notFound('question');
    const json = await this.#asOf(request, seen.snapshot.json);
    const version = query.version ?? (query.at === undefined ? seen.snapshot.version : versionOf(json));
    const etag = `"${version}"`;
    reply.header('etag', etag);
    if (!matches(request.headers['if-none-match'], etag)) return new JsonText(json);
    reply.code(304);
    return undefined;
  }

  @Handles(listRoute)
  async list(@Req() request: RequestOf<typeof listRoute>) {
    const { json, nextCursor } = await this.reader.list(request.principal, request.input.query);
    return new JsonText(`{"data":[${json}],"nextCursor":${JSON.stringify(nextCursor)}}`);
  }

  async #asOf({ principal, input }: RequestOf<typeof fetchRoute>, current: string): Promise<string> {
    const { version, at } = input.query;
    if (version === undefined && at === undefined) return current;
    const { tenant } = principal;
    const json =
      at === undefined
        ? await this.reader.jsonAtVersion(tenant, input.params.id, version as number)
        : await this.reader.jsonAtTime(tenant, input.params.id, at);
    if (json === undefined) throw notFound('such state of the question');
    return json;
  }
}

function attemptJson(attempt: Attempt, reply: FastifyReply): JsonText {
  if (attempt.replayed) markReplayed(reply);
  return new JsonText(`{"applied":${attempt.applied},"question":${attempt.json}}`);
}

function versionOf(json: string): number {
  return (JSON.parse(json) as { version: number }).version;
}

/** RFC 9110, section 13.1.2: weak comparison with any of the listed tags. */
function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag);
}
