import { Shutdown } from '#platform';
import { startHost } from './host.js';
import { hostSettings } from './settings.js';

const shutdown = new Shutdown();
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    shutdown.run().then(() => process.exit(0), fail);
  });
}

try {
  const host = await startHost(hostSettings(process.env), shutdown);
  if (host.adminKeyFile !== undefined) console.log(`settled admin key in ${host.adminKeyFile}`);
  console.log(`settled ready url=${host.url}`);
} catch (error) {
  await shutdown.run().catch(() => {});
  fail(error);
}

/** One line that says what is wrong; LOG_LEVEL=debug shows where. */
function fail(error: unknown): never {
  const message = error instanceof Error ? error.message : String(error);
  console.error(process.env.LOG_LEVEL === 'debug' ? error : `settled: ${message}`);
  process.exit(1);
}
