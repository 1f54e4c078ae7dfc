/** The value below which the share `p` (0 to 1) of the values lies; NaN of none. */
export function percentile(values, p) {
  if (values.length === 0) return Number.NaN;
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.ceil(p * sorted.length) - 1)];
}

/** The middle value, or the mean of the middle two. */
export function median(values) {
  if (values.length === 0) return Number.NaN;
  const sorted = Float64Array.from(values).sort();
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Median over the rounds of a/b, each pair taken in the same round, so that drift cancels out. */
export function pairedRatio(a, b) {
  return median(a.map((value, round) => value / b[round]).filter(Number.isFinite));
}
