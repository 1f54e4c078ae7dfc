import { mib, table } from './format.mjs';
import { atMost } from './verdict.mjs';

const MAX_TOTAL_BYTES = 130 * 1024 * 1024;
const MAX_POSTGRES_BYTES = 60 * 1024 * 1024;

export function reportSize({ total, postgres, missing }) {
  return {
    title: 'Size',
    missing,
    tables: [
      table(
        ['production node_modules', 'on disk'],
        [
          ['all', mib(total)],
          ['of it PostgreSQL', mib(postgres)],
        ],
      ),
    ],
    verdicts: [
      atMost('production node_modules', total, MAX_TOTAL_BYTES, mib),
      atMost('of it PostgreSQL', postgres, MAX_POSTGRES_BYTES, mib),
    ],
  };
}
