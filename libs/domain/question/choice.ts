import type { Answer, FieldError } from '#contracts';
import type { SubmittedChoice } from './commands.js';
import type { Question } from './state.js';

export type ChoiceVerdict = { readonly answer: Answer } | { readonly errors: readonly FieldError[] };

/** Judges a submitted choice against its question and regenerates the label from it. */
export function judgeChoice(question: Question, choice: SubmittedChoice): ChoiceVerdict {
  if ('errors' in choice) return choice;
  const { option, text } = choice.body;
  if (option !== undefined) return judgeOption(question, option);
  if (text !== undefined) {
    if (question.allowText) return { answer: { kind: 'text', text } };
    return refused('text', 'this question takes no typed answer: choose an option');
  }
  if (question.allowSkip) return { answer: { kind: 'skipped' } };
  return refused('skip', 'this question cannot be skipped');
}

function judgeOption(question: Question, id: string): ChoiceVerdict {
  const found = question.options.find((option) => option.id === id);
  if (found !== undefined) return { answer: { kind: 'option', option: { id, label: found.label } } };
  const accepted = question.options.map((option) => option.id).join(', ');
  return refused('option', accepted === '' ? 'this question has no options' : `must be one of: ${accepted}`);
}

function refused(path: string, message: string): ChoiceVerdict {
  return { errors: [{ path, message }] };
}
