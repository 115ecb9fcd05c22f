import { afterAll, beforeAll, describe, test } from '@jest/globals';
import type { Trial } from '../support/cluster/crash-loop.ts';
import { adaptersOfRun } from '../support/api/adapters.ts';
import { CrashStage, crashLimitMs } from '../support/cluster/crash-stage.ts';
import { waitForPass } from '../support/cluster/crash-trials.ts';
import { MovedClock } from '../support/faults/moved-clock.ts';
import { ScheduleSite, hourMs, hourOf } from '../support/cluster/schedule-site.ts';
import { type ScheduleGround, ScheduleTrial } from '../support/cluster/schedule-trial.ts';
import type { Stack } from '../support/cluster/stack.ts';

describe.each(adaptersOfRun)('a controller %s that dies at its n-th message and starts again leaves', (adapter) => {
  const resources = new AsyncDisposableStack();
  let clock: MovedClock;
  let stage: CrashStage<ScheduleSite>;
  let site: ScheduleSite;
  let ground: ScheduleGround;

  beforeAll(async () => {
    clock = new MovedClock(resources, 24 * hourMs);
    // Away from the end of an hour: no trial must run over it.
    const toGoMs = hourOf(clock.now()) + hourMs - clock.now();
    if (toGoMs < 1_800_000) clock.move(toGoMs);
    stage = await CrashStage.start(resources, makeSite, { adapter, clock });
    ({ site } = stage);
    ground = { site, clock, databaseUrl: stage.stack.databaseUrl };
  });

  afterAll(() => resources.disposeAsync());

  async function makeSite(stack: Stack): Promise<ScheduleSite> {
    const made = await ScheduleSite.make(stack);
    const granted = await made.grant();
    resources.defer(() => made.withdraw(granted));
    return made;
  }

  test(
    'of a new SnapshotSchedule one snapshot for the time that is due',
    () =>
      stage.expectSurvived(() => {
        const trial = new ScheduleTrial(ground);
        return Promise.resolve<Trial>({
          act: () => trial.create(),
          expectDone: () => trial.expectTaken(),
          prove: () => trial.proveOne(),
          clear: () => trial.clear(),
        });
      }),
    crashLimitMs,
  );

  test(
    'of the next time one snapshot, and the one before pruned',
    () =>
      stage.expectSurvived(async () => {
        const trial = new ScheduleTrial(ground);
        await trial.create({ retention: { keepLast: 1 } });
        await waitForPass(() => trial.expectTaken());
        return {
          async act() {
            clock.move(hourMs);
            await site.look(trial.name);
          },
          expectDone: () => trial.expectTaken(),
          prove: () => trial.proveOne(),
          clear: () => trial.clear(),
        };
      }),
    crashLimitMs,
  );
});
