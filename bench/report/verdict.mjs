import { table } from './format.mjs';

/** At most, or at least, a limit; `show` formats both numbers. A measurement that is not there has no verdict. */
export function atMost(what, measured, limit, show) {
  return { what, target: `≤ ${show(limit)}`, ...judged(measured, measured <= limit, show) };
}

export function atLeast(what, measured, limit, show) {
  return { what, target: `≥ ${show(limit)}`, ...judged(measured, measured >= limit, show) };
}

export function below(what, measured, limit, show) {
  return { what, target: `< ${show(limit)}`, ...judged(measured, measured < limit, show) };
}

function judged(measured, reached, show) {
  if (!Number.isFinite(measured)) return { measured: '–', verdict: 'not measured here' };
  return { measured: show(measured), verdict: reached ? 'reached' : '**missed**' };
}

export function verdictTable(verdicts) {
  return table(
    ['target', 'wanted', 'measured', 'verdict'],
    verdicts.map(({ what, target, measured, verdict }) => [what, target, measured, verdict]),
  );
}
