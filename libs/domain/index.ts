export * from './question/commands.js';
export * from './question/commit-times.js';
export * from './question/decide.js';
export * from './question/entry.js';
export * from './question/envelope.js';
export * from './question/evolve.js';
export * from './question/state.js';
export * from './question/visibility.js';
