import { parseArgs } from 'node:util';
import { ROUNDS, SLOT_SECONDS } from './limits.mjs';

const MAX_ROUNDS = 50;
const MAX_SLOT_SECONDS = 60;

export const USAGE = `npm run bench -- [scenario …] [--write] [--rounds N] [--seconds N] [--only target,…]

scenarios: SCENARIOS (all of them by default)
--write    also write the result to bench/results.md
--rounds   how often each target takes its turn (${ROUNDS})
--seconds  how long a turn is (${SLOT_SECONDS})
--only     of the cycles, only these targets: settled, hand-written, restate-1, restate, dbos, ceiling`;

/** What was asked for on the command line. Throws an Error whose message is for the user. */
export function readArguments(argv, scenarioNames) {
  const { values, positionals } = parseArgs({
    args: argv,
    allowPositionals: true,
    options: {
      write: { type: 'boolean', default: false },
      rounds: { type: 'string', default: String(ROUNDS) },
      seconds: { type: 'string', default: String(SLOT_SECONDS) },
      only: { type: 'string', default: '' },
      help: { type: 'boolean', default: false },
    },
  });
  const unknown = positionals.find((name) => !scenarioNames.includes(name));
  if (unknown !== undefined) throw new Error(`there is no scenario ${unknown}`);
  return {
    scenarios: positionals.length === 0 ? scenarioNames : positionals,
    // Without a `--` of its own, the inner npm takes the option for one of its settings and passes it on like this.
    write: values.write || process.env.npm_config_write === 'true',
    help: values.help,
    rounds: within('--rounds', values.rounds, MAX_ROUNDS),
    slotSeconds: within('--seconds', values.seconds, MAX_SLOT_SECONDS),
    only: values.only.split(',').filter((name) => name !== ''),
  };
}

function within(name, text, most) {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > most)
    throw new Error(`${name} is a whole number from 1 to ${most}`);
  return value;
}
