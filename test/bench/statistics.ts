/** The value below which a share of the samples lies (nearest rank), in the samples' unit. Throws on an empty list. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  const value = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
  if (value === undefined) throw new Error('no samples');
  return value;
}

/** One line of a bench's table: count, p50, p90, p99 and the largest, in milliseconds. */
export function summaryLine(name: string, samplesMs: readonly number[]): string {
  const figures = [0.5, 0.9, 0.99, 1].map((share) => percentile(samplesMs, share).toFixed(1).padStart(8));
  return `${name.padEnd(28)}${String(samplesMs.length).padStart(6)}${figures.join('')}`;
}

export const summaryHeader = `${'milliseconds'.padEnd(28)}${'n'.padStart(6)}${['p50', 'p90', 'p99', 'max'].map((head) => head.padStart(8)).join('')}`;
