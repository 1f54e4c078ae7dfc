import { ms, number, table } from './format.mjs';
import { Rounds } from './rounds.mjs';
import { atLeast, below } from './verdict.mjs';

const MIN_RELAY_EVENTS_PER_SECOND = 5_000;
const MAX_LAG_P99_MS = 250;
const MAX_WAIT_P99_MS = 50;

export function reportDistributed({ missing, relay, lag, slots }) {
  const rounds = new Rounds(slots);
  const places = [...new Set(slots.map(({ target }) => target))];
  const elsewhere = rounds.median({ target: 'another process' }, 'p99');
  return {
    title: 'Several processes, on one PostgreSQL and one Kafka',
    notes: [
      'Client, two processes of questions, PostgreSQL, Kafka and its consumer share the cores.',
      'The lag of publication is from the commit to the receipt by a `read_committed` consumer.',
    ],
    missing,
    tables: [
      table(
        ['64 at once, waits at', 'cycles/s', 'answer→resume p50 ms', 'p99 ms'],
        places.map((target) => [
          target,
          ...['perSecond', 'p50', 'p99'].map((figure) => number(rounds.median({ target }, figure))),
        ]),
      ),
      table(
        ['publication', 'events', 'events/s', 'lag p50', 'lag p99'],
        [
          ['catching up', number(relay?.events), number(relay?.perSecond), '–', '–'],
          ['500 events a second', number(lag?.events), '–', ms(lag?.p50), ms(lag?.p99)],
        ],
      ),
    ],
    verdicts: [
      below('answer at one process, wait at another, p99 at 64, ms', elsewhere, MAX_WAIT_P99_MS, number),
      atLeast('relay that catches up, events/s', relay?.perSecond, MIN_RELAY_EVENTS_PER_SECOND, number),
      below('publication lag p99 at 500 events/s', lag?.p99, MAX_LAG_P99_MS, ms),
    ],
  };
}
