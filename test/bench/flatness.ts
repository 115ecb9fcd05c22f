import { percentile } from './statistics.ts';

export interface Sample {
  readonly atMs: number;
  readonly value: number;
}

/** By how much a figure may grow, in its unit and as a share of what it was at first; the sum of both. */
export interface Allowance {
  readonly absolute: number;
  readonly share: number;
}

export interface Flatness {
  /** The medians of the first and of the last third of the time. */
  readonly first: number;
  readonly last: number;
  /** What `last` may be at most. */
  readonly most: number;
  readonly isFlat: boolean;
}

const minSamples = 3;

/**
 * Compares the last third of the time with the first one. Medians, so that a leader change or another client of the machine
 * does not decide. Throws if a third has fewer than three samples.
 */
export function judgeFlatness(samples: readonly Sample[], { absolute, share }: Allowance): Flatness {
  const times = samples.map(({ atMs }) => atMs);
  const [from, to] = [Math.min(...times), Math.max(...times)];
  const third = (to - from) / 3;
  const first = medianOf(samples.filter(({ atMs }) => atMs <= from + third));
  const last = medianOf(samples.filter(({ atMs }) => atMs >= to - third));
  const most = first * (1 + share) + absolute;
  return { first, last, most, isFlat: last <= most };
}

function medianOf(samples: readonly Sample[]): number {
  if (samples.length < minSamples)
    throw new Error(`a third of the time needs ${minSamples} samples, not ${samples.length}`);
  return percentile(
    samples.map(({ value }) => value),
    0.5,
  );
}
