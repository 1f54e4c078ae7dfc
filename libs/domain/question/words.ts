import type { Answer, ChosenOption } from '#contracts';

/** The canonical sentences of outcomes, made from validated data alone. */
export function answeredWords(by: string, answer: Answer): string {
  switch (answer.kind) {
    case 'option':
      return `${by} answered: ${answer.option.label}`;
    case 'text':
      return `${by} answered: ${answer.text}`;
    case 'skipped':
      return `${by} skipped the question`;
  }
}

export function expiredWords(fallback: ChosenOption | null): string {
  const silence = 'Nobody answered before the deadline';
  return fallback === null ? silence : `${silence}; the asker's default is: ${fallback.label}`;
}

export function cancelledWords(by: string, reason: string | null): string {
  return reason === null ? `${by} withdrew the question` : `${by} withdrew the question: ${reason}`;
}
