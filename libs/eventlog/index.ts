export { BatcherFull } from './batcher.js';
export * from './checkpoints.js';
export * from './entry.js';
export { EventLog, type EventLogSettings } from './event-log.js';
export type { Loaded, LoadedQuestion } from './loader.js';
export { migrationsFolder } from './migrations.js';
export { type OverduePage, type OverdueQuestion, readOverdue } from './overdue.js';
export type { LogTail, Observer } from './tail.js';
