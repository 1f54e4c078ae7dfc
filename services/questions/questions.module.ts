import { type DynamicModule, Inject, Module, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import type { EventLog } from '#eventlog';
import { type Authenticator, type Logger, type Registry, StreamGuard } from '#platform';
import { QuestionWriter } from '#settling';
import { ContinuationService } from './conversations/continuation.service.js';
import { ConversationService } from './conversations/conversation.service.js';
import { FeedService } from './feed/feed.service.js';
import { Housekeeping } from './housekeeping.js';
import { ConversationsController } from './http/conversations.controller.js';
import { EventsController } from './http/events.controller.js';
import { InboxController } from './http/inbox.controller.js';
import { KeysController } from './http/keys.controller.js';
import { QuestionsController } from './http/questions.controller.js';
import { RoomsController } from './http/rooms.controller.js';
import { WaitsController } from './http/waits.controller.js';
import { InboxService } from './inbox/inbox.service.js';
import { KeyService } from './key.service.js';
import { registerQuestionMetrics } from './metrics.js';
import { QuestionService } from './question.service.js';
import { QuestionCache } from './question-cache.js';
import { QuestionReader } from './question-reader.js';
import { RoomService } from './room.service.js';
import { RoomStore } from './store/rooms.js';
import { WaitService } from './waits/wait.service.js';
import { WaitHub } from './waits/wait-hub.js';

const PARTS = Symbol('parts');

/** What the module is built over. */
export interface QuestionsParts {
  readonly log: EventLog;
  readonly authenticator: Authenticator;
  readonly metrics: Registry;
  readonly logger: Logger;
}

/** The REST facade: commands, views, waits, inbox and feeds over one log. */
@Module({})
export class QuestionsModule implements OnModuleInit, OnModuleDestroy {
  constructor(
    @Inject(PARTS) private readonly parts: QuestionsParts,
    @Inject(QuestionCache) private readonly cache: QuestionCache,
    @Inject(WaitHub) private readonly hub: WaitHub,
    @Inject(QuestionReader) private readonly reader: QuestionReader,
    @Inject(InboxService) private readonly inbox: InboxService,
    @Inject(StreamGuard) private readonly guard: StreamGuard,
    @Inject(Housekeeping) private readonly housekeeping: Housekeeping,
  ) {}

  static over({ log, authenticator, metrics, logger }: QuestionsParts): DynamicModule {
    const writer = new QuestionWriter(log);
    return {
      module: QuestionsModule,
      controllers: [
        QuestionsController,
        WaitsController,
        ConversationsController,
        EventsController,
        InboxController,
        RoomsController,
        KeysController,
      ],
      providers: [
        { provide: PARTS, useValue: { log, authenticator, metrics, logger } },
        { provide: Housekeeping, useFactory: () => new Housekeeping(log.pool, logger) },
        QuestionCache,
        WaitHub,
        { provide: RoomStore, useFactory: () => new RoomStore(log.pool) },
        { provide: KeyService, useFactory: () => new KeyService(log.pool, authenticator) },
        { provide: FeedService, useFactory: () => new FeedService(log) },
        { provide: StreamGuard, useFactory: () => new StreamGuard(authenticator) },
        {
          provide: QuestionReader,
          inject: [QuestionCache],
          useFactory: (cache: QuestionCache) => new QuestionReader(writer, cache),
        },
        {
          provide: QuestionService,
          inject: [QuestionReader, RoomStore],
          useFactory: (reader: QuestionReader, rooms: RoomStore) =>
            new QuestionService(writer, reader, rooms),
        },
        {
          provide: WaitService,
          inject: [WaitHub, QuestionReader],
          useFactory: (hub: WaitHub, reader: QuestionReader) => new WaitService(hub, reader),
        },
        { provide: ConversationService, useFactory: () => new ConversationService(writer) },
        {
          provide: ContinuationService,
          inject: [WaitHub, ConversationService],
          useFactory: (hub: WaitHub, conversations: ConversationService) =>
            new ContinuationService(writer, hub, conversations),
        },
        {
          provide: RoomService,
          inject: [RoomStore],
          useFactory: (rooms: RoomStore) => new RoomService(rooms, authenticator),
        },
        {
          provide: InboxService,
          inject: [QuestionReader, RoomStore],
          useFactory: (reader: QuestionReader, rooms: RoomStore) =>
            new InboxService(writer, reader, rooms, authenticator),
        },
      ],
    };
  }

  async onModuleInit(): Promise<void> {
    // In this order: who is woken finds the newest state in memory.
    const { log, metrics } = this.parts;
    log.tail.observe((events) => {
      this.cache.follow(events);
      this.hub.follow(events);
      this.inbox.follow(events);
    });
    registerQuestionMetrics(metrics, { log, hub: this.hub, guard: this.guard });
    this.housekeeping.start();
    await this.reader.start();
  }

  /** Before the server stops listening to its open requests: lets them go. */
  async onModuleDestroy(): Promise<void> {
    this.hub.close();
    this.guard.close();
    await this.housekeeping.stop();
  }
}
