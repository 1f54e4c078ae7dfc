import type { Principal } from '#contracts';
import { nextLapse } from '#domain';
import type { Conversations, QuestionWriter, SeenConversation } from '#settling';
import type { Timing } from '../waits/wait.service.js';
import { conversationName, type WaitHub } from '../waits/wait-hub.js';
import type { ConversationService } from './conversation.service.js';
import { conversationRefusal } from './refusals.js';

const LAPSE_GRACE_MS = 2_000;

/** Waits for continuations, for hosts that have no webhook. */
export class ContinuationService {
  readonly #conversations: Conversations;

  constructor(
    writer: QuestionWriter,
    private readonly hub: WaitHub,
    private readonly answers: ConversationService,
  ) {
    this.#conversations = writer.conversations;
  }

  /** JSON text of the continuation that is pending by the timeout, or `null`. */
  async wait({ tenant, subject }: Principal, id: string, { timeoutMs, gone }: Timing): Promise<string> {
    const untilMs = performance.now() + timeoutMs;
    let left = false;
    let wake = () => {};
    gone(() => {
      left = true;
      wake();
    });
    for (;;) {
      const waiter = this.hub.register([conversationName(tenant, id)]);
      wake = () => waiter.wake?.(undefined);
      try {
        const seen = await this.#conversations.see({ tenant, id });
        const { owner, continuation, queue } = seen.state;
        if (owner !== null && owner !== subject) throw conversationRefusal('not_owner');
        if (continuation !== null) {
          const answers = await this.answers.answersJson(tenant, queue);
          return `{"id":${JSON.stringify(continuation)},"answers":${answers}}`;
        }
        const remainingMs = untilMs - performance.now();
        if (remainingMs <= 0 || left || this.hub.closed) return 'null';
        await this.hub.wait(waiter, Math.min(remainingMs, untilLapse(seen)));
      } finally {
        this.hub.leave(waiter);
      }
    }
  }
}

/** Somebody records a lapse soon after it. Should nobody, the waiter itself looks then, which records it. */
function untilLapse({ state, now }: SeenConversation): number {
  const lapse = nextLapse(state);
  if (lapse === undefined) return Number.POSITIVE_INFINITY;
  return Date.parse(lapse.until) - Date.parse(now) + LAPSE_GRACE_MS;
}
