import { kib, mib, ms, number, table } from './format.mjs';
import { atMost } from './verdict.mjs';

const MAX_BYTES_PER_WAIT = 10 * 1024;
const MAX_P99_MS = 250;

export function reportIdleWaits({ results, missing }) {
  const settled = results.find(({ target }) => target === 'settled');
  return {
    title: 'Idle waits',
    notes: [
      'One connection and one request for each wait, so this is what the HTTP server itself keeps too.',
    ],
    missing,
    tables: [
      table(
        [
          'target',
          'waits',
          'Node RSS each',
          'all processes PSS each',
          'PSS before',
          'after',
          'answered: p50 ms',
          'p99 ms',
        ],
        results.map((result) => [
          result.target,
          number(result.waits),
          kib(result.bytesPerWait),
          kib(result.pssBytesPerWait),
          mib(result.pssBefore),
          mib(result.pssAfter),
          number(result.p50),
          number(result.p99),
        ]),
      ),
    ],
    verdicts: [
      atMost('10,000 idle waits, memory of each', settled?.bytesPerWait, MAX_BYTES_PER_WAIT, kib),
      atMost('1,000 of them answered, answer→resume p99', settled?.p99, MAX_P99_MS, ms),
    ],
  };
}
