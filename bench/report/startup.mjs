import { median } from '../measure/statistics.mjs';
import { mib, ms, table, times } from './format.mjs';
import { Rounds } from './rounds.mjs';
import { atMost } from './verdict.mjs';

export function reportStartup({ starts, missing }) {
  const rounds = new Rounds(starts);
  const targets = ['settled', 'hand-written'].filter((name) => starts.some(({ target }) => target === name));
  const against = (figure) => rounds.ratio({ target: 'settled' }, { target: 'hand-written' }, figure);
  return {
    title: 'Start',
    notes: [
      'From the spawn to the ready line, the start of PostgreSQL included; the first time with a new cluster.',
    ],
    missing,
    tables: [
      table(
        ['target', 'ready the first time', 'later', 'Node RSS at rest', 'all processes PSS'],
        targets.map((target) => {
          const figure = (name) => median(rounds.values({ target }, name));
          return [
            target,
            ms(figure('firstMs')),
            ms(figure('laterMs')),
            mib(figure('rss')),
            mib(figure('pss')),
          ];
        }),
      ),
    ],
    verdicts: [
      atMost('ready the first time, against hand-written', against('firstMs'), 2.5, times),
      atMost('ready later, against hand-written', against('laterMs'), 3, times),
      atMost('Node process at rest, against hand-written', against('rss'), 1.5, times),
    ],
  };
}
