import type { ConversationEvent, Owed } from '#contracts';

/** What a response says: fields as they are, and the outcomes that it hands over. An idempotency key remembers it. */
export interface ConversationResponse {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly answers?: readonly Owed[];
}

/** Of a stop that found nothing to stop. */
export const NOTHING_STOPPED: ConversationResponse = { fields: { cancelled: [], dropped: 0 } };

export function responseOf({ type, data }: ConversationEvent): ConversationResponse {
  switch (type) {
    case 'conversation.send_begun':
      return { fields: { send: data.send } };
    case 'conversation.turn_started':
      return { fields: { turn: data.turn }, answers: data.answers };
    case 'conversation.boundary_reached':
      return { fields: {}, answers: data.answers };
    case 'conversation.turn_finished': {
      const { detached, settled, continuation } = data;
      return { fields: { detached, settled, continuation } };
    }
    case 'conversation.stopped':
      return { fields: { cancelled: data.cancelled, dropped: data.dropped.length } };
    case 'conversation.question_asked':
    case 'conversation.question_settled':
    case 'conversation.send_ended':
      return { fields: {} };
  }
}
