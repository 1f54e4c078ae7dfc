const COMMITTED_AT_JSON = '"\\ud800"';
const DEADLINE_AT_JSON = '"\\ud801"';

/** Fills a text's holes as the log's function does: the commit time, and the deadline counted from it. */
export function fillCommitTimes(json: string, at: string, lifetimeMs: number | undefined): string {
  const filled = json.replaceAll(COMMITTED_AT_JSON, `"${at}"`);
  if (!filled.includes(DEADLINE_AT_JSON)) return filled;
  const deadline = new Date(Date.parse(at) + (lifetimeMs ?? 0)).toISOString();
  return filled.replaceAll(DEADLINE_AT_JSON, `"${deadline}"`);
}
