import { describeWithKafka } from '../support/kafka.js';
import { describeBus } from './bus.conformance.js';
import { KafkaHarness } from './kafka-harness.js';

describeWithKafka('a real broker', (kafka) => {
  describeBus('Kafka', () => KafkaHarness.start(kafka().brokers));
});
