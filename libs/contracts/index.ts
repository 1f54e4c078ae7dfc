export * from './access.js';
export * from './commands.js';
export * from './envelope.js';
export * from './events.js';
export * from './problem.js';
export * from './queries.js';
export * from './records.js';
export * from './text.js';
