const ROUND_TRIPS = 5;

/** Resolves when a process has taken up what was sent to it before. It waits for no database. */
export async function whatWasSentHasArrived({ url }: { readonly url: string }): Promise<void> {
  for (let trip = 0; trip < ROUND_TRIPS; trip += 1) await (await fetch(`${url}/healthz`)).text();
}
