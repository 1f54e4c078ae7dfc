// `npm test [jest arguments]`: builds, then runs the whole suite and ends with one summary line.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const build = spawnSync(process.execPath, ['tools/build.mjs'], { stdio: 'inherit' });
if (build.status !== 0) process.exit(build.status ?? 1);

const folder = mkdtempSync(join(tmpdir(), 'settled-test-'));
const report = join(folder, 'report.json');
const jest = spawnSync(
  process.execPath,
  [
    '--experimental-vm-modules',
    '--disable-warning=ExperimentalWarning',
    'node_modules/jest/bin/jest.js',
    '--json',
    `--outputFile=${report}`,
    ...process.argv.slice(2),
  ],
  { stdio: ['inherit', 'ignore', 'inherit'] },
);
const { numPassedTests, numFailedTests, numPendingTests, numRuntimeErrorTestSuites } = JSON.parse(
  readFileSync(report, 'utf8'),
);
rmSync(folder, { recursive: true, force: true });
console.log(
  `${numPassedTests} passed, ${numFailedTests + numRuntimeErrorTestSuites} failed, ${numPendingTests} skipped`,
);
process.exit(jest.status ?? 1);
