import { number, table, times } from './format.mjs';
import { Rounds } from './rounds.mjs';
import { atLeast } from './verdict.mjs';

export function reportBigLog({ slots, missing }) {
  const rounds = new Rounds(slots);
  const ratio = rounds.ratio({ log: 'big' }, { log: 'empty' }, 'perSecond');
  return {
    title: 'A log with 500,000 settled questions',
    missing,
    tables:
      slots.length === 0
        ? []
        : [
            table(
              [
                'log',
                'cycles/s at 64',
                'least–most',
                'against empty',
                'answer→resume p50 ms',
                'p99 ms',
                'server CPU ms/cycle',
              ],
              ['empty', 'big'].map((log) => [
                log,
                number(rounds.median({ log }, 'perSecond')),
                rounds.range({ log }, 'perSecond', number),
                times(rounds.ratio({ log }, { log: 'empty' }, 'perSecond')),
                number(rounds.median({ log }, 'p50')),
                number(rounds.median({ log }, 'p99')),
                number(rounds.median({ log }, 'cpuPerCycle')),
              ]),
            ),
          ],
    verdicts: [atLeast('cycles/s with 500,000 settled, against an empty log', ratio, 0.9, times)],
  };
}
