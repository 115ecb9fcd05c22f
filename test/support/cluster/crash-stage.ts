import { expect } from '@jest/globals';
import type { ApiProxy } from '../faults/api-proxy.ts';
import type { MovedClock } from '../faults/moved-clock.ts';
import { nonEmpty } from '../fixtures/non-empty.ts';
import { drawNumbers, isFull, seed } from '../fixtures/test-size.ts';
import { CrashLoop, type Trial } from './crash-loop.ts';
import type { KillPoint, MessageCounts } from './kill-switch.ts';
import { Stack } from './stack.ts';

// A proxy kills the controller by SIGKILL, at a message to PostgreSQL (a statement, counted where it is to be executed) or
// to the API server (a request); the next controller then has to bring everything to its end. In the full size that happens
// at every statement and every request, both before the other side has it and when its answer is lost. By default it happens
// at some of them, on each day at others.

const both = ['before', 'after'] as const;
/** How often a controller dies by default, at each kind of message. */
const deaths = { request: 2, commit: 1, statement: 2 } as const;

/** Requests and COMMITs whose answer is lost, and statements before or after, in turn. */
function drawPoints(counts: MessageCounts): KillPoint[] {
  return (['request', 'commit', 'statement'] as const).flatMap((of) =>
    drawNumbers(counts[of], deaths[of]).map((index, turn) => {
      const moment = of === 'statement' ? (both[(seed + turn) % both.length] ?? 'before') : 'after';
      return { of, nth: index + 1, moment };
    }),
  );
}

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

  /** Has a controller die at a message, at each of many, each time in a trial of its own. */
  async expectSurvived(makeTrial: () => Promise<Trial>): Promise<void> {
    if (!isFull) {
      const counts = await this.#loop.countMessages(makeTrial);
      // A kind of message that never comes shows nothing.
      for (const count of nonEmpty(Object.values(counts))) expect(count).toBeGreaterThanOrEqual(1);
      for (const point of drawPoints(counts)) await this.#loop.dieAt(point, makeTrial);
      return;
    }
    for (const moment of both) {
      expect(await this.#loop.dieEverywhere({ of: 'request', moment }, makeTrial)).toBeGreaterThanOrEqual(1);
      expect(await this.#loop.dieEverywhere({ of: 'statement', moment }, makeTrial)).toBeGreaterThanOrEqual(1);
    }
  }
}
