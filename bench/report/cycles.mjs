import { CONCURRENCIES, MAIN_CONCURRENCY } from '../limits.mjs';
import { CYCLE_TARGETS } from '../scenarios/cycles.mjs';
import { mib, number, table, times } from './format.mjs';
import { Rounds } from './rounds.mjs';
import { atLeast, atMost, below } from './verdict.mjs';

export function reportCycles({ slots, missing, atRest, after }) {
  const rounds = new Rounds(slots);
  const measured = CYCLE_TARGETS.filter(({ name }) => slots.some((slot) => slot.target === name));
  return {
    title: 'Full cycles: ask, wait, answer, resume',
    notes: [
      'A ratio is the median of the ratios within each round, so it can differ a little from the ratio of the medians.',
      `The client itself took ${number(rounds.median({ concurrency: MAIN_CONCURRENCY }, 'clientCpuPerCycle'))} ms of CPU per cycle at ${MAIN_CONCURRENCY}, on the same cores.`,
    ],
    missing,
    tables: [cyclesTable(rounds, measured), growthTable({ rounds, measured, atRest, after })],
    verdicts: verdicts(rounds),
  };
}

function cyclesTable(rounds, measured) {
  const rows = CONCURRENCIES.flatMap((concurrency) =>
    measured.map(({ name, label }) => {
      const [own, settled] = [
        { target: name, concurrency },
        { target: 'settled', concurrency },
      ];
      return [
        `${concurrency} at once: ${label}`,
        number(rounds.median(own, 'perSecond')),
        rounds.range(own, 'perSecond', number),
        times(rounds.ratio(settled, own, 'perSecond')),
        number(rounds.median(own, 'p50')),
        number(rounds.median(own, 'p99')),
        number(rounds.median(own, 'cpuPerCycle')),
        number(rounds.median(own, 'nodeCpuPerCycle')),
        times(rounds.ratio(settled, own, 'cpuPerCycle')),
      ];
    }),
  );
  return table(
    [
      'target',
      'cycles/s',
      'least–most',
      'Settled ÷ it',
      'answer→resume p50 ms',
      'p99 ms',
      'server CPU ms/cycle',
      'of it Node',
      'CPU, Settled ÷ it',
    ],
    rows,
  );
}

function growthTable({ rounds, measured, atRest, after }) {
  const rows = measured.map(({ name, label }) => {
    const rate = (concurrency) => rounds.median({ target: name, concurrency }, 'perSecond');
    return [
      label,
      CONCURRENCIES.map((concurrency) => times(rate(concurrency) / rate(CONCURRENCIES[0]))).join(' → '),
      mib(atRest[name].rss),
      mib(after[name].rss),
      mib(atRest[name].pss),
      mib(after[name].pss),
      number(atRest[name].idleCpuMsPerSecond),
    ];
  });
  return table(
    [
      'target',
      `cycles/s, ${CONCURRENCIES.join(' → ')} at once`,
      'Node RSS at rest',
      'after',
      'all processes PSS at rest',
      'after',
      'CPU at rest, ms/s',
    ],
    rows,
  );
}

function verdicts(rounds) {
  const at = (target, concurrency = MAIN_CONCURRENCY) => ({ target, concurrency });
  const ratio = (other, figure, concurrency) =>
    rounds.ratio(at('settled', concurrency), at(other, concurrency), figure);
  const p = (figure) => rounds.median(at('settled'), figure);
  const growth = rounds.ratio(at('settled', 256), at('settled', 64), 'perSecond');
  return [
    atLeast('cycles/s at 64, against hand-written', ratio('hand-written', 'perSecond'), 2, times),
    atLeast('cycles/s at 64, against Restate, one partition', ratio('restate-1', 'perSecond'), 3, times),
    atLeast('cycles/s at 64, against DBOS', ratio('dbos', 'perSecond'), 13, times),
    atLeast('cycles/s at 64, against the ceiling', ratio('ceiling', 'perSecond'), 0.4, times),
    atLeast('cycles/s alone, against hand-written', ratio('hand-written', 'perSecond', 1), 0.9, times),
    atLeast('cycles/s at 256, against its own at 64', growth, 1, times),
    atMost(
      'server CPU per cycle at 64, against hand-written',
      ratio('hand-written', 'cpuPerCycle'),
      0.45,
      times,
    ),
    atMost(
      'server CPU per cycle alone, against hand-written',
      ratio('hand-written', 'cpuPerCycle', 1),
      1.2,
      times,
    ),
    below('answer→resume p50 at 64, ms', p('p50'), rounds.median(at('hand-written'), 'p50'), number),
    below('answer→resume p99 at 64, ms', p('p99'), rounds.median(at('hand-written'), 'p99'), number),
    atMost('answer→resume p50 alone, against hand-written', ratio('hand-written', 'p50', 1), 1.25, times),
    atMost('answer→resume p50 alone, against Restate', ratio('restate-1', 'p50', 1), 1 / 3, times),
  ];
}
