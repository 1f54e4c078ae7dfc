import { kib, number, table, times } from './format.mjs';
import { Rounds } from './rounds.mjs';
import { atLeast } from './verdict.mjs';

const TARGETS = ['settled', 'hand-written', 'ceiling'];

export function reportReads({ slots, missing }) {
  const rounds = new Rounds(slots);
  const rows = ['fetch', 'list'].flatMap((act) =>
    TARGETS.filter((target) => slots.some((slot) => slot.target === target)).map((target) => [
      `${act}: ${target}`,
      number(rounds.median({ target, act }, 'perSecond')),
      times(rounds.ratio({ target: 'settled', act }, { target, act }, 'perSecond')),
      number(rounds.median({ target, act }, 'cpuPerRead')),
      kib(rounds.median({ target, act }, 'bytes')),
    ]),
  );
  return {
    title: 'Reads at 64 concurrent',
    missing,
    tables: [table(['what', 'per second', 'Settled ÷ it', 'server CPU ms each', 'response'], rows)],
    verdicts: ['fetch', 'list'].flatMap((act) => {
      const ratio = (other) => rounds.ratio({ target: 'settled', act }, { target: other, act }, 'perSecond');
      return [
        atLeast(`${act}/s, against hand-written`, ratio('hand-written'), 2, times),
        atLeast(`${act}/s, against the ceiling`, ratio('ceiling'), 0.35, times),
      ];
    }),
  };
}
