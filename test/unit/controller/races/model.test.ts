import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { adaptersOfRun } from '../../../support/api/adapters.ts';
import { isFull } from '../../../support/fixtures/test-size.ts';
import { Harness } from '../controller-harness.ts';
import { expectSettled, noteHeld } from './model-expectation.ts';
import { type Step, anySteps } from './model-steps.ts';
import { ModelWorld, maxCalls, syncNames } from './model-world.ts';

// The same runs each time; a seed that found a fault is worth adding.
const seeds = isFull ? Array.from({ length: 40 }, (_, seed) => seed) : [1, 2, 3, 4];
const runs = isFull ? 250 : 50;

// Of the harness.
const resyncIntervalMs = 600_000;

async function play(steps: readonly Step[]): Promise<void> {
  const world = await ModelWorld.started();
  try {
    noteHeld(world, syncNames);
    for (const step of steps) if (await world.take(step)) check(world);
    await world.rest();
    world.wasProdAway = false;
    check(world);
    expect(world.elapsedMs).toBeLessThan(resyncIntervalMs);
    expect(world.callCount).toBeLessThan(maxCalls);
  } finally {
    await world.controller.stop();
  }
}

/** Expects of each SecretSync what it is permitted at this moment, while all is at rest. */
function check(world: ModelWorld): void {
  for (const sync of syncNames) {
    // A ServiceToken may still wait to look for an environment that was away.
    const isWaiting = world.asked.get(sync) === 'prod by a ServiceToken' && world.wasProdAway;
    if (!isWaiting) expectSettled(world, sync);
  }
  noteHeld(world, syncNames);
}

describe.each(adaptersOfRun)('for a controller %s', (adapter) => {
  test.each(seeds)(
    'at rest and without a resync, each Secret is the newest permitted state, and the status says so (seed %s)',
    async (seed) => {
      const run = (steps: readonly Step[]): Promise<void> => Harness.reaching(adapter, () => play(steps));
      await fc.assert(fc.asyncProperty(anySteps, run), { seed, numRuns: runs });
    },
  );
});
