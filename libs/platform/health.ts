export interface Health {
  readonly ok: boolean;
  /** What is wrong, for people; empty when nothing is. */
  readonly detail: string;
}

export type HealthCheck = () => Health | Promise<Health>;

const CHECK_TIMEOUT_MS = 2_000;

/** What must work for this process to be sent requests, by name. */
export class Readiness {
  readonly #checks = new Map<string, HealthCheck>();
  #stopping = false;

  add(name: string, check: HealthCheck): void {
    this.#checks.set(name, check);
  }

  /** From here on it is not ready, so that balancers look elsewhere. */
  stopping(): void {
    this.#stopping = true;
  }

  async report(): Promise<{ ready: boolean; checks: Record<string, Health> }> {
    const entries = await Promise.all(
      [...this.#checks].map(async ([name, check]) => [name, await outcomeOf(check)] as const),
    );
    if (this.#stopping) entries.push(['process', { ok: false, detail: 'is shutting down' }]);
    return { ready: entries.every(([, { ok }]) => ok), checks: Object.fromEntries(entries) };
  }
}

async function outcomeOf(check: HealthCheck): Promise<Health> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Health>((resolve) => {
    timer = setTimeout(
      () => resolve({ ok: false, detail: `no answer in ${CHECK_TIMEOUT_MS} ms` }),
      CHECK_TIMEOUT_MS,
    );
  });
  try {
    return await Promise.race([check(), late]);
  } catch {
    return { ok: false, detail: 'the check failed' };
  } finally {
    clearTimeout(timer);
  }
}
