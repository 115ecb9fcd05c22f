import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { CrashLoop, type Trial } from '../support/crash-loop.ts';
import { type Strides, crashLimitMs as limitMs, expectSurvivedBy } from '../support/crash-series.ts';
import { SnapshotTrial, waitForPass } from '../support/crash-trials.ts';
import { snapshotsOf } from '../support/pin-site.ts';
import { Stack } from '../support/stack.ts';
import { TokenSite } from '../support/token-site.ts';

const resources = new AsyncDisposableStack();
let stack: Stack;
let loop: CrashLoop;
let site: TokenSite;
let snapshots: ReturnType<typeof snapshotsOf>;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 1 });
  site = await TokenSite.make(stack, { kinds: ['SecretSnapshot'] });
  snapshots = snapshotsOf({ kube: stack.kube, namespace: site.namespace });
  loop = await CrashLoop.start(resources, stack);
});

afterAll(() => resources.disposeAsync());

const expectSurvived = (strides: Strides, makeTrial: () => Promise<Trial>): Promise<void> =>
  expectSurvivedBy(loop, strides, makeTrial);

describe('a controller that dies at its n-th message, and is started again, leaves', () => {
  test(
    'of a new SecretSnapshot one snapshot',
    () =>
      expectSurvived({ coarse: 3, statements: 12 }, () => {
        const snapshot = new SnapshotTrial({ stack, site, snapshots });
        const trial = { act: () => snapshot.create('Retain'), expectDone: () => snapshot.expectTaken() };
        return Promise.resolve({
          ...trial,
          prove: () => snapshot.proveOne(),
          clear: () => snapshots.delete(snapshot.name),
        });
      }),
    limitMs,
  );

  test(
    'of a SecretSnapshot that is deleted, with the policy Delete, none',
    () =>
      expectSurvived({ coarse: 3, statements: 10 }, async () => {
        const snapshot = new SnapshotTrial({ stack, site, snapshots });
        await snapshot.create('Delete');
        await waitForPass(() => snapshot.expectTaken());
        const { name } = snapshot;
        return {
          act: () => snapshots.delete(name),
          expectDone: async () => expect(await stack.kube.find({ path: snapshots.path(name) })).toBeUndefined(),
          prove: () => snapshot.proveNone(),
        };
      }),
    limitMs,
  );
});
