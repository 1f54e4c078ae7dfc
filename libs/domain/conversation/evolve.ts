import type { ConversationEvent, Owed } from '#contracts';
import type { Conversation, OpenQuestion, Turn } from './state.js';

/** Folds one event into the state. It never refuses: history is fact. */
export function evolveConversation(before: Conversation, event: ConversationEvent): Conversation {
  const after = { ...before, version: before.version + 1, owner: before.owner ?? event.actor };
  switch (event.type) {
    case 'conversation.question_asked': {
      const { question: id, attached } = event.data;
      return { ...after, questions: [...before.questions, { id, attached }] };
    }
    case 'conversation.question_settled': {
      const { question, version, as, continuation } = event.data;
      return {
        ...after,
        turn: as === 'queued' ? before.turn : withSettled(before, question),
        questions: before.questions.filter(({ id }) => id !== question),
        queue: as === 'queued' ? [...before.queue, { question, version }] : before.queue,
        continuation: continuation ?? before.continuation,
      };
    }
    case 'conversation.send_begun': {
      const { send: id, until } = event.data;
      return { ...after, sends: [...before.sends, { id, until }], continuation: null };
    }
    case 'conversation.send_ended': {
      const { send, continuation } = event.data;
      return { ...after, sends: without(before, send), continuation };
    }
    case 'conversation.turn_started': {
      const { turn: id, send, leaseSeconds, until, answers } = event.data;
      const turn = { id, leaseSeconds, until, settled: [] };
      return {
        ...after,
        turn,
        sends: without(before, send),
        queue: unhanded(before, answers),
        continuation: null,
      };
    }
    case 'conversation.boundary_reached': {
      const { until, answers } = event.data;
      return {
        ...after,
        turn: before.turn && { ...before.turn, until },
        queue: unhanded(before, answers),
      };
    }
    case 'conversation.turn_finished':
      return {
        ...after,
        turn: null,
        questions: before.questions.map(detached),
        continuation: event.data.continuation,
      };
    case 'conversation.stopped': {
      const { sends } = event.data;
      return {
        ...after,
        turn: null,
        sends: before.sends.filter(({ id }) => !sends.includes(id)),
        questions: [],
        queue: [],
        continuation: null,
      };
    }
  }
}

/** The turn that runs, with a question of its own that was settled. */
function withSettled({ turn, questions }: Conversation, question: string): Turn | null {
  const isItsOwn = questions.some(({ id, attached }) => id === question && attached);
  return turn !== null && isItsOwn ? { ...turn, settled: [...turn.settled, question] } : turn;
}

function without({ sends }: Conversation, send: string | null) {
  return sends.filter(({ id }) => id !== send);
}

function unhanded({ queue }: Conversation, answers: readonly Owed[]) {
  return queue.filter(({ question }) => !answers.some((answer) => answer.question === question));
}

function detached({ id }: OpenQuestion): OpenQuestion {
  return { id, attached: false };
}
