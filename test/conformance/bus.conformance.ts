import { afterAll, beforeAll, describe } from '@jest/globals';
import { describeDelivery } from './bus-delivery.conformance.js';
import { Group, type InGroup } from './bus-group.js';
import type { BusHarness } from './bus-harness.js';
import { describeMembers } from './bus-members.conformance.js';
import { describeRetries } from './bus-retries.conformance.js';

/** The contract of the bus, for whatever transport stands behind it. */
export function describeBus(name: string, makeHarness: () => Promise<BusHarness>): void {
  describe(`the bus over ${name}`, () => {
    let harness: BusHarness;
    beforeAll(async () => {
      harness = await makeHarness();
    });
    afterAll(() => harness.stop());

    const inGroup: InGroup = (test) => async () => {
      const group = new Group(harness);
      try {
        await test(group);
      } finally {
        await group.stop();
      }
    };
    describeDelivery(inGroup);
    describeRetries(inGroup);
    describeMembers(inGroup);
  });
}
