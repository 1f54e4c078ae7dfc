export { type BusEvent, type BusHealth, LogContext, RETRY, type RetryLimits } from './contract.js';
export { GroupLock } from './group-lock.js';
export { KAFKA_SETTINGS, type KafkaConfig, type KafkaSettings, usesKafka } from './kafka/settings.js';
export { LogTransport, type LogTransportOptions } from './log-transport.js';
export { pause, Signal } from './signal.js';
export { Subscribe, transportOf } from './subscribe.js';
