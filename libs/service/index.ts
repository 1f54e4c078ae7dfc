export { consumerOf } from './consumer.js';
export { runProcess, type Started } from './run.js';
export { type Database, type Service, type ServiceParts, startServices } from './service.js';
export * from './settings.js';
export { VERSION } from './version.js';
