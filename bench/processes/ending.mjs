import { killAllPrograms, stopAllPrograms } from './spawned.mjs';
import { removeAllDirectories } from './temporary.mjs';

const SIGNAL_EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };

/** Whatever ends the bench, its programs are stopped and its directories removed. */
export function cleanUpAtTheEnd() {
  process.once('exit', () => {
    killAllPrograms();
    removeAllDirectories();
  });
  for (const [signal, code] of Object.entries(SIGNAL_EXIT_CODES)) {
    process.once(signal, async () => {
      console.error(`${signal}: stopping what was started`);
      await stopAllPrograms();
      process.exit(code);
    });
  }
}
