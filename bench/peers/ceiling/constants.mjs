const LIST_LENGTH = 50;

const QUESTION = {
  object: 'question',
  tenant: 'default',
  version: 1,
  asker: 'agent:bench',
  scope: { kind: 'direct', user: 'user:ada' },
  prompt: 'Deploy build 1234 to production?',
  context: 'All 512 checks are green. The last deployment was 3 hours ago.',
  options: [
    { id: 'yes', label: 'Yes, deploy' },
    { id: 'no', label: 'No, hold it back' },
  ],
  allowText: false,
  allowSkip: false,
  conversation: null,
  turn: null,
  metadata: { build: 1234, pipeline: 'main' },
  askedAt: '2026-11-30T17:28:00.000Z',
  expiresAt: '2026-11-30T18:28:00.000Z',
};
const OUTCOME = {
  kind: 'answered',
  at: '2026-11-30T17:28:01.000Z',
  by: 'user:ada',
  answer: { kind: 'option', option: { id: 'yes', label: 'Yes, deploy' } },
  words: 'user:ada answered: Yes, deploy',
};

/** As large as a real one, so that both ends carry the same bytes. */
export function envelope(id, state) {
  return { id, ...QUESTION, state, outcome: state === 'answered' ? OUTCOME : null };
}

export const LIST = JSON.stringify({
  data: Array.from({ length: LIST_LENGTH }, () =>
    envelope('0193a1b2-0000-7000-8000-000000000000', 'answered'),
  ),
  nextCursor: '0193a1b2-0000-7000-8000-000000000000',
});
