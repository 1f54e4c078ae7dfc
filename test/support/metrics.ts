import type { SettledProcess } from './settled-process.js';

/** What `/metrics` says of a metric without labels. */
export async function figureOf(process: SettledProcess, name: string): Promise<number> {
  const text = await (await process.call('GET', '/metrics')).text();
  const [, value] = new RegExp(`^${name} (\\S+)$`, 'm').exec(text) ?? [];
  if (value === undefined) throw new Error(`There is no ${name} in /metrics`);
  return Number(value);
}
