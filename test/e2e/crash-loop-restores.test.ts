import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { adaptersOfRun } from '../support/api/adapters.ts';
import { CrashStage, crashLimitMs as limitMs } from '../support/cluster/crash-stage.ts';
import { waitForPass } from '../support/cluster/crash-trials.ts';
import { RestoreSite } from '../support/cluster/restore-site.ts';
import { RestoreTrial } from '../support/cluster/restore-trial.ts';

describe.each(adaptersOfRun)('a controller %s that dies at its n-th message and starts again leaves', (adapter) => {
  const resources = new AsyncDisposableStack();
  let stage: CrashStage<RestoreSite>;

  beforeAll(async () => {
    stage = await CrashStage.start(resources, (stack) => RestoreSite.make(stack), { adapter });
  });

  afterAll(() => resources.disposeAsync());

  test(
    'of a SnapshotRestore that is approved one restore, with one backup',
    () =>
      stage.expectSurvived(async () => {
        const restore = await RestoreTrial.prepare(stage.stack, stage.site);
        await restore.create();
        await waitForPass(() => restore.expectPlanned());
        return {
          act: () => restore.approve(),
          expectDone: () => restore.expectComplete(),
          prove: () => restore.proveOne(),
          clear: () => restore.clear(),
        };
      }),
    limitMs,
  );

  test(
    'of a SnapshotRestore without a plan one restore, with one backup',
    () =>
      stage.expectSurvived(async () => {
        const restore = await RestoreTrial.prepare(stage.stack, stage.site);
        return {
          act: () => restore.createUnplanned(),
          expectDone: () => restore.expectComplete(),
          prove: () => restore.proveOne(),
          clear: () => restore.clear(),
        };
      }),
    limitMs,
  );
});
