import { ms, number, table } from './format.mjs';
import { atMost } from './verdict.mjs';

const MAX_ALL_SETTLED_MS = 1_000;
const MAX_LAG_MS = 100;

export function reportDeadline({ results, missing }) {
  const settled = results.find(({ target }) => target === 'settled');
  return {
    title: 'One deadline for 20,000 questions',
    notes: ['A lag is from `outcome.at` to the receipt of the whole response by the waiter.'],
    missing,
    tables: [
      table(
        [
          'target',
          'early',
          'first after',
          'all settled after',
          'waits',
          'lag p50',
          'lag p99',
          'lag max',
          'last told after',
        ],
        results.map((result) => [
          result.target,
          number(result.early),
          ms(result.firstAfterMs),
          ms(result.allSettledAfterMs),
          number(result.waits),
          ms(result.lagP50),
          ms(result.lagP99),
          ms(result.lagMax),
          ms(result.lastToldAfterMs),
        ]),
      ),
    ],
    verdicts: [
      atMost(
        '20,000 on one deadline, settled early',
        settled && settled.early + settled.earlyWaits,
        0,
        number,
      ),
      atMost('all of them settled', settled?.allSettledAfterMs, MAX_ALL_SETTLED_MS, ms),
      atMost('each waiter told after its commit', settled?.lagMax, MAX_LAG_MS, ms),
    ],
  };
}
