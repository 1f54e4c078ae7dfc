import { writeFileSync } from 'node:fs';
import { readArguments, USAGE } from './arguments.mjs';
import { cleanUpAtTheEnd } from './processes/ending.mjs';
import { reportBigLog } from './report/big-log.mjs';
import { reportCycles } from './report/cycles.mjs';
import { reportDeadline } from './report/deadline.mjs';
import { reportDistributed } from './report/distributed.mjs';
import { reportIdleWaits } from './report/idle-waits.mjs';
import { markdown } from './report/markdown.mjs';
import { reportReads } from './report/reads.mjs';
import { reportSize } from './report/size.mjs';
import { reportStartup } from './report/startup.mjs';
import { reportWebhooks } from './report/webhooks.mjs';
import { bigLog } from './scenarios/big-log.mjs';
import { cycles } from './scenarios/cycles.mjs';
import { deadline } from './scenarios/deadline.mjs';
import { distributed } from './scenarios/distributed.mjs';
import { idleWaits } from './scenarios/idle-waits.mjs';
import { reads } from './scenarios/reads.mjs';
import { size } from './scenarios/size.mjs';
import { startup } from './scenarios/startup.mjs';
import { webhooks } from './scenarios/webhooks.mjs';

const SCENARIOS = {
  cycles: { run: cycles, report: reportCycles },
  reads: { run: reads, report: reportReads },
  'idle-waits': { run: idleWaits, report: reportIdleWaits },
  deadline: { run: deadline, report: reportDeadline },
  webhooks: { run: webhooks, report: reportWebhooks },
  distributed: { run: distributed, report: reportDistributed },
  startup: { run: startup, report: reportStartup },
  size: { run: size, report: reportSize },
  'big-log': { run: bigLog, report: reportBigLog },
};
const RESULTS = new URL('results.md', import.meta.url);

async function main() {
  const names = Object.keys(SCENARIOS);
  const asked = readArguments(process.argv.slice(2), names);
  if (asked.help) {
    console.log(USAGE.replace('SCENARIOS', names.join(', ')));
    return;
  }
  cleanUpAtTheEnd();
  const startedAt = performance.now();
  const reports = [];
  for (const name of asked.scenarios) {
    reports.push(await resultOf(name, asked));
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  const text = markdown({ ...asked, reports, seconds });
  process.stdout.write(text);
  if (asked.write) writeFileSync(RESULTS, text);
}

/** A scenario that fails is a result too: the others still run. */
async function resultOf(name, asked) {
  const { run, report } = SCENARIOS[name];
  const progress = (line) => console.error(`${name}: ${line}`);
  try {
    return report(await run({ ...asked, progress }));
  } catch (error) {
    console.error(error);
    process.exitCode = 1;
    const verdicts = [
      { what: `${name} runs to its end`, target: 'yes', measured: 'no', verdict: '**missed**' },
    ];
    return { title: name, missing: [], tables: [], notes: [`Failed: ${error.message}`], verdicts };
  }
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error && process.env.DEBUG === undefined ? error.stack : error);
  process.exitCode = 1;
}
