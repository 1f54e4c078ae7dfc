export { Conversations, type Decided, type SeenConversation } from './conversations.js';
export { QuestionWriter, type WriteResult } from './question-writer.js';
export { type LapseSweep, sweepLapses } from './sweep-lapses.js';
export { type Sweep, sweepOverdue } from './sweep-overdue.js';
