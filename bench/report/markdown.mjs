import { cpus, totalmem } from 'node:os';
import { mib } from './format.mjs';
import { verdictTable } from './verdict.mjs';

/** The whole result as one Markdown text: the verdicts first, then each scenario's figures. */
export function markdown({ reports, rounds, slotSeconds, seconds }) {
  const verdicts = reports.flatMap((report) => report.verdicts);
  const parts = [
    '# Measured',
    `${cpus().length} cores (${cpus()[0].model.trim()}), ${mib(totalmem())} memory, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}; ` +
      `${rounds} rounds of ${slotSeconds} s per target, in turns; medians; ${Math.round(seconds)} s in all.`,
    '## Targets',
    verdictTable(verdicts),
    ...reports.flatMap(section),
  ];
  return `${parts.join('\n\n')}\n`;
}

function section({ title, notes = [], missing, tables }) {
  return [
    `## ${title}`,
    ...missing.map(({ label, why }) => `${label}: not available here: ${why}.`),
    ...tables,
    ...notes,
  ];
}
