export { kafkaClient } from './client.js';
export { eventOf, type Publishable, type RecordedEvent, recordOf } from './record.js';
export { ensureTopics } from './topics.js';
