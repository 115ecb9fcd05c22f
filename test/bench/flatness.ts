import { percentile } from './statistics.ts';

export interface Sample {
  readonly atMs: number;
  readonly value: number;
}

/** By how much a figure may grow, in its unit and as a share of what it was at first; the sum of both. */
export interface Allowance {
  readonly absolute: number;
  readonly share: number;
  /**
   * What of a third is compared: the value below which this share of its samples lies, the median if absent. Less for a figure
   * that is high for a while after each change of the leader: what grows without an end is never low again.
   */
  readonly quantile?: number;
}

export interface Flatness {
  /** Of the first and of the last third of the time. */
  readonly first: number;
  readonly last: number;
  /** What `last` may be at most. */
  readonly most: number;
  readonly isFlat: boolean;
}

const minSamples = 3;

/**
 * Compares the last third of the time with the first one. By medians, so that another client of the machine does not decide.
 * Throws if a third has fewer than three samples.
 */
export function judgeFlatness(samples: readonly Sample[], { absolute, share, quantile = 0.5 }: Allowance): Flatness {
  const times = samples.map(({ atMs }) => atMs);
  const [from, to] = [Math.min(...times), Math.max(...times)];
  const third = (to - from) / 3;
  const first = levelOf(
    samples.filter(({ atMs }) => atMs <= from + third),
    quantile,
  );
  const last = levelOf(
    samples.filter(({ atMs }) => atMs >= to - third),
    quantile,
  );
  const most = first * (1 + share) + absolute;
  return { first, last, most, isFlat: last <= most };
}

function levelOf(samples: readonly Sample[], quantile: number): number {
  if (samples.length < minSamples)
    throw new Error(`a third of the time needs ${minSamples} samples, not ${samples.length}`);
  return percentile(
    samples.map(({ value }) => value),
    quantile,
  );
}
