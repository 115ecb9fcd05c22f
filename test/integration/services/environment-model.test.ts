import { test } from '@jest/globals';
import fc from 'fast-check';
import { expectAsModelled } from './environment-proof.ts';
import { EnvironmentRun } from '../../support/api/environment-run.ts';
import { anyRounds } from '../../support/api/environment-steps.ts';
import { RunOrganizations } from '../../support/api/run-organizations.ts';
import type { TestServices } from '../../support/api/services.ts';
import { withServices } from '../../support/api/with-services.ts';
import { expectInLanes } from '../../support/fixtures/property-lanes.ts';

const scale =
  process.env['KEYFRAME_TEST_SCALE'] === 'full' ? { runs: 2000, limitMs: 3_600_000 } : { runs: 25, limitMs: 900_000 };

let services: TestServices;

withServices((given) => ({ services } = given), { poolSize: 20 });

// Calls at once may fall out otherwise when the same calls are drawn again.
test('whatever several clients do to two environments, also at once, answers, history and every past revision are as the interface says', async () => {
  await expectInLanes(() => {
    const organizations = new RunOrganizations(services);
    return fc.asyncProperty(anyRounds, async (rounds) => {
      const run = await EnvironmentRun.start(services, await organizations.next());
      for (const calls of rounds) await run.round(calls);
      await run.finish();
      await Promise.all(run.environments.map((environment) => expectAsModelled(services, environment)));
    });
  }, scale);
}, 3_660_000);
