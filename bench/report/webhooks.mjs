import { median } from '../measure/statistics.mjs';
import { mib, ms, number, table, times } from './format.mjs';
import { Rounds } from './rounds.mjs';
import { atLeast, below } from './verdict.mjs';

const MIN_TIMES_GRAPHILE = 3;
const MAX_P50_MS = 50;
const MAX_P99_MS = 250;
const MAX_TIMES_ALONE = 1.5;
const MAX_GROWN_BYTES = 100 * 1024 * 1024;

export function reportWebhooks({ missing, drains, busy = [], alone = [], among = [], grownBytes }) {
  const rounds = new Rounds(drains);
  const senders = [...new Set(drains.map(({ target }) => target))];
  const timesOf = (target) => rounds.ratio({ target: 'settled' }, { target }, 'perSecond');
  const middle = (slots, figure) => median(slots.map((slot) => slot[figure]));
  return {
    title: 'Webhooks',
    notes: [
      'The sender, the receivers, PostgreSQL and who answers share the cores. Each delivery is one signed POST, 64 in flight.',
      'graphile-worker keeps no history of attempts and no leases of its own; batched is with its local queue and batched completion.',
    ],
    missing,
    tables: [
      table(
        ['sender', 'deliveries/s', 'least–most', 'Settled ÷ it'],
        senders.map((target) => [
          target,
          number(rounds.median({ target }, 'perSecond')),
          drains.length === 0 ? '–' : rounds.range({ target }, 'perSecond', number),
          times(timesOf(target)),
        ]),
      ),
      table(
        ['to a receiver', 'answer→receipt p50', 'p99'],
        [
          ['200 answers/s, alone', ms(middle(busy, 'p50')), ms(middle(busy, 'p99'))],
          ['20 answers/s, alone', ms(middle(alone, 'p50')), ms(middle(alone, 'p99'))],
          ['20 answers/s, among eight that ail', ms(middle(among, 'p50')), ms(middle(among, 'p99'))],
        ],
      ),
    ],
    verdicts: [
      atLeast('deliveries/s, against graphile-worker', timesOf('graphile-worker'), MIN_TIMES_GRAPHILE, times),
      below('answer→receipt p50 at 200 answers/s', middle(busy, 'p50'), MAX_P50_MS, ms),
      below('answer→receipt p99 at 200 answers/s', middle(busy, 'p99'), MAX_P99_MS, ms),
      below(
        'p99 among eight ailing receivers, against alone',
        middle(among, 'p99') / middle(alone, 'p99'),
        MAX_TIMES_ALONE,
        times,
      ),
      below('memory among them, above idle', grownBytes, MAX_GROWN_BYTES, mib),
    ],
  };
}
