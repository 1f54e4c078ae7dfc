const BYTES_PER_KIB = 1024;
const BYTES_PER_MIB = 1024 * 1024;

/** Three significant digits, and whole numbers from a hundred on. */
export function number(value) {
  if (!Number.isFinite(value)) return '–';
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US');
  return String(Number(value.toPrecision(3)));
}

export const times = (value) => (Number.isFinite(value) ? `${value.toFixed(2)}×` : '–');
export const kib = (bytes) => `${number(bytes / BYTES_PER_KIB)} KiB`;
export const mib = (bytes) => `${number(bytes / BYTES_PER_MIB)} MiB`;
export const ms = (value) => `${number(value)} ms`;

export function table(columns, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  const alignment = columns.map((_, index) => (index === 0 ? '---' : '---:'));
  return [line(columns), line(alignment), ...rows.map(line)].join('\n');
}
