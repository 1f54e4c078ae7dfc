import { Shutdown } from '#platform';

export interface Started {
  readonly url: string;
  /** What a person who starts it should read, before it says that it is ready. */
  readonly notice?: string | undefined;
}

/** The life of a process: starts, says on stdout that it is ready, and stops in order at SIGTERM or SIGINT. */
export async function runProcess(
  name: string,
  start: (environment: NodeJS.ProcessEnv, shutdown: Shutdown) => Promise<Started>,
): Promise<void> {
  const shutdown = new Shutdown();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      shutdown.run().then(() => process.exit(0), fail);
    });
  }
  try {
    const { url, notice } = await start(process.env, shutdown);
    if (notice !== undefined) console.log(notice);
    console.log(`${name} ready url=${url}`);
  } catch (error) {
    await shutdown.run().catch(() => {});
    fail(error);
  }
}

/** One line that says what is wrong; LOG_LEVEL=debug shows where. */
function fail(error: unknown): never {
  const message = error instanceof Error ? error.message : String(error);
  console.error(process.env.LOG_LEVEL === 'debug' ? error : `settled: ${message}`);
  process.exit(1);
}
