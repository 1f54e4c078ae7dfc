export { kafkaClient } from './client.js';
export { KafkaTransport, type KafkaTransportOptions } from './kafka-transport.js';
export { eventOf, type Publishable, type RecordedEvent, recordOf } from './record.js';
export { ensureTopics } from './topics.js';
