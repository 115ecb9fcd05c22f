import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { CrashLoop, type Trial } from '../support/crash-loop.ts';
import { type Strides, crashLimitMs as limitMs, expectSurvivedBy } from '../support/crash-series.ts';
import { waitForPass } from '../support/crash-trials.ts';
import { RestoreSite } from '../support/restore-site.ts';
import { RestoreTrial } from '../support/restore-trial.ts';
import { Stack } from '../support/stack.ts';

const resources = new AsyncDisposableStack();
let stack: Stack;
let loop: CrashLoop;
let site: RestoreSite;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 1 });
  site = await RestoreSite.make(stack);
  loop = await CrashLoop.start(resources, stack);
});

afterAll(() => resources.disposeAsync());

const expectSurvived = (strides: Strides, makeTrial: () => Promise<Trial>): Promise<void> =>
  expectSurvivedBy(loop, strides, makeTrial);

describe('a controller that dies at its n-th message, and is started again, leaves', () => {
  test(
    'of a SnapshotRestore that is approved one restore, with one backup',
    () =>
      expectSurvived({ coarse: 4, statements: 24 }, async () => {
        const restore = await RestoreTrial.prepare(stack, site);
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
      expectSurvived({ coarse: 5, statements: 32 }, async () => {
        const restore = await RestoreTrial.prepare(stack, site);
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
