/** The consumer group that makes deliveries out of events. */
export const WEBHOOKS_GROUP = 'webhooks';
