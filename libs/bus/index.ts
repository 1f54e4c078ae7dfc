export { type BusEvent, type BusHealth, LogContext, RETRY, type RetryLimits } from './contract.js';
export { LogTransport, type LogTransportOptions } from './log-transport.js';
export { Subscribe, transportOf } from './subscribe.js';
