import type { Answer, ChosenOption } from '#contracts';

/** The canonical sentences of outcomes, made from validated data alone. */
export function answeredWords(by: string, answer: Answer): string {
  switch (answer.kind) {
    case 'option':
      return `${by} answered: ${oneLine(answer.option.label)}`;
    case 'text':
      return `${by} answered: ${oneLine(answer.text)}`;
    case 'skipped':
      return `${by} skipped the question`;
  }
}

export function expiredWords(fallback: ChosenOption | null): string {
  const silence = 'Nobody answered before the deadline';
  return fallback === null ? silence : `${silence}; the asker's default is: ${oneLine(fallback.label)}`;
}

export function cancelledWords(by: string, reason: string | null): string {
  return reason === null ? `${by} withdrew the question` : `${by} withdrew the question: ${oneLine(reason)}`;
}

/** A sentence stays on its line, so that nothing a person typed can look like another one. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
}
