import { envelopeAt } from '#domain';
import { consumerOf, type Service, type ServiceParts } from '#service';
import { ExpiryModule } from './expiry.module.js';
import { EXPIRY_GROUP } from './group.js';

/** Settles questions whose deadline has passed. */
export async function expiryService(parts: ServiceParts): Promise<Service> {
  return {
    module: ExpiryModule.over(parts),
    consumers: {
      // What is overdue already is the sweep's: the consumer has to hear of new deadlines only.
      'expiry consumer': await consumerOf(parts, { group: EXPIRY_GROUP, from: 'end', project: envelopeAt }),
    },
  };
}
