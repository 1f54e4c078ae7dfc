import { Readable } from 'node:stream';
import { Controller, Inject, Req, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { EVENTS_DEFAULT } from '#contracts';
import type { LoggedEvent } from '#eventlog';
import { EventStream, Handles, JsonText, notFound, type RequestOf, StreamGuard } from '#platform';
import { eventJson, FeedService } from '../feed/feed.service.js';
import { QuestionReader } from '../question-reader.js';
import { refusalOf } from '../refusals.js';
import { lastEventIdOf } from './last-event-id.js';
import { feedRoute, historyRoute } from './routes.js';

@Controller()
export class EventsController {
  constructor(
    @Inject(FeedService) private readonly feed: FeedService,
    @Inject(QuestionReader) private readonly reader: QuestionReader,
    @Inject(StreamGuard) private readonly guard: StreamGuard,
  ) {}

  @Handles(historyRoute)
  async history(@Req() request: RequestOf<typeof historyRoute>) {
    const { id } = request.input.params;
    const { principal } = request;
    const seen = await this.reader.see(principal, id);
    if (seen === undefined) throw notFound('question');
    const { asker } = seen.snapshot.state.question;
    const allowed =
      asker === principal.subject || principal.scopes.has('audit') || principal.scopes.has('admin');
    if (!allowed) throw refusalOf({ kind: 'not_eligible' });
    return listOf(await this.reader.events(principal.tenant, id));
  }

  @Handles(feedRoute)
  async all(@Req() request: RequestOf<typeof feedRoute>, @Res() reply: FastifyReply) {
    const accepted = request.headers.accept?.toLowerCase() ?? '';
    if (accepted.includes('text/event-stream')) return await this.#followed(request, reply);
    if (accepted.includes('application/x-ndjson')) return await this.#lines(request, reply);
    const { after, limit } = request.input.query;
    const events = await this.feed.page(request.principal.tenant, after, limit ?? EVENTS_DEFAULT);
    return await reply.send(listOf(events));
  }

  async #lines({ principal, input }: RequestOf<typeof feedRoute>, reply: FastifyReply): Promise<void> {
    const { after, limit } = input.query;
    const pages = this.feed.pages(principal.tenant, after, limit ?? Number.MAX_SAFE_INTEGER);
    reply.type('application/x-ndjson');
    await reply.send(Readable.from(linesOf(pages)));
  }

  async #followed(request: RequestOf<typeof feedRoute>, reply: FastifyReply): Promise<void> {
    const { principal, input } = request;
    const after = lastEventIdOf(request.headers['last-event-id']) ?? input.query.after;
    const stream = new EventStream(reply);
    const ended = new AbortController();
    stream.closed(() => ended.abort());
    this.guard.guard(stream, request.headers.authorization);
    try {
      for await (const page of this.feed.follow(principal.tenant, after, ended.signal)) {
        for (const event of page) {
          stream.send({ id: String(event.position), event: event.type, data: eventJson(event) });
        }
        await stream.drained();
      }
    } finally {
      // A client whose stream breaks resumes where it was.
      stream.end();
    }
  }
}

function listOf(events: readonly LoggedEvent[]): JsonText {
  return new JsonText(`{"data":[${events.map(eventJson).join(',')}]}`);
}

async function* linesOf(pages: AsyncIterable<LoggedEvent[]>): AsyncGenerator<string> {
  for await (const page of pages) yield page.map((event) => `${eventJson(event)}\n`).join('');
}
