import { expect } from '@jest/globals';
import type { CrashLoop, CrashSeries, Trial } from './crash-loop.ts';

// A proxy kills the controller by SIGKILL, at a message to PostgreSQL (a statement, counted where it is to be executed) or
// to the API server (a request); the next controller then has to bring everything to its end. At full scale that happens
// at every statement and every request, both before the other side has it and when its answer is lost. Otherwise it
// happens at every third to fifth request and COMMIT, with the answer lost, and at one or two other statements, before and
// after in turn: what each test is called with. Each series must kill at least once.

const isFull = process.env['KEYFRAME_TEST_SCALE'] === 'full';
const both = ['before', 'after'] as const;
const everywhere: readonly CrashSeries[] = both.flatMap((moment) => [
  { of: 'request', moments: [moment], stride: 1 },
  { of: 'statement', moments: [moment], stride: 1 },
]);

/** How far what a controller dies at is from the next, unless that is everything. */
export interface Strides {
  /** Of requests, and of COMMITs. */
  readonly coarse: number;
  readonly statements: number;
}

const somewhere = ({ coarse, statements }: Strides): readonly CrashSeries[] => [
  { of: 'request', moments: ['after'], stride: coarse },
  { of: 'commit', moments: ['after'], stride: coarse },
  { of: 'statement', moments: both, stride: statements, first: Math.ceil(statements / 2) },
];
/** How long one test may take. */
export const crashLimitMs = isFull ? 1_800_000 : 120_000;

/** Has a controller die at all these messages, each in a trial of its own. */
export async function expectSurvivedBy(
  loop: CrashLoop,
  strides: Strides,
  makeTrial: () => Promise<Trial>,
): Promise<void> {
  const deaths: number[] = [];
  for (const each of isFull ? everywhere : somewhere(strides)) deaths.push(await loop.run(each, makeTrial));
  // A series that kills nobody shows nothing.
  for (const count of deaths) expect(count).toBeGreaterThanOrEqual(1);
}
