import { expect } from '@jest/globals';
import type { ApiProxy } from '../faults/api-proxy.ts';
import { CrashLoop, type CrashSeries, type Trial } from './crash-loop.ts';
import type { MovedClock } from '../faults/moved-clock.ts';
import { Stack } from './stack.ts';
import { nonEmpty } from '../fixtures/non-empty.ts';

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
/** How long one test may take: it ends what hangs. */
export const crashLimitMs = isFull ? 1_800_000 : 300_000;

/** A controller that dies and is started again, for one test file. */
export class CrashStage<Site> {
  readonly stack: Stack;
  /** Where the trials take place. */
  readonly site: Site;
  readonly #loop: CrashLoop;

  private constructor(stack: Stack, site: Site, loop: CrashLoop) {
    this.stack = stack;
    this.site = site;
    this.#loop = loop;
  }

  /** Starts a stack with one namespace, makes the site, and starts the first controller, each controller with this clock. */
  static async start<Site>(
    resources: AsyncDisposableStack,
    makeSite: (stack: Stack) => Promise<Site>,
    clock?: MovedClock,
  ): Promise<CrashStage<Site>> {
    const stack = await Stack.start(resources, { namespaces: 1 });
    const site = await makeSite(stack);
    return new CrashStage(stack, site, await CrashLoop.start(resources, stack, clock));
  }

  /** What the controllers send to the API server through. */
  get api(): ApiProxy {
    return this.#loop.api;
  }

  /** Has a controller die at all these messages, each in a trial of its own. */
  async expectSurvived(strides: Strides, makeTrial: () => Promise<Trial>): Promise<void> {
    const deaths: number[] = [];
    for (const each of isFull ? everywhere : somewhere(strides)) deaths.push(await this.#loop.run(each, makeTrial));
    // A series without a death shows nothing.
    for (const count of nonEmpty(deaths)) expect(count).toBeGreaterThanOrEqual(1);
  }
}
