import { test } from '@jest/globals';
import fc from 'fast-check';
import { expectAsModelled } from './environment-proof.ts';
import { EnvironmentRun } from '../../support/api/environment-run.ts';
import { anyRounds } from '../../support/api/environment-steps.ts';
import { createWorld, type TestServices } from '../../support/api/services.ts';
import { withServices } from '../../support/api/with-services.ts';

// Shrinking a failure ends with the time as well.
const { runs, limitMs } =
  process.env['KEYFRAME_TEST_SCALE'] === 'full' ? { runs: 2000, limitMs: 1_800_000 } : { runs: 25, limitMs: 60_000 };

let services: TestServices;

withServices((given) => ({ services } = given));

// What fast-check says of a failure has its seed and path, which draw the same calls again: fc.assert's second argument
// takes them. Calls at once may fall out otherwise then.
test('whatever several clients do, also at once, answers, history and every past revision are as the interface says', async () => {
  const property = fc.asyncProperty(anyRounds, async (rounds) => {
    const world = await createWorld(services);
    const run = await EnvironmentRun.start(services, world);
    for (const calls of rounds) await run.round(calls);
    await expectAsModelled(services, world, run);
  });
  await fc.assert(property, { numRuns: runs, interruptAfterTimeLimit: limitMs });
}, 1_860_000);
