/** The consumer group of the expiry service. */
export const EXPIRY_GROUP = 'expiry';
