import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { adaptersOfRun } from '../support/api/adapters.ts';
import { CrashStage, crashLimitMs as limitMs } from '../support/cluster/crash-stage.ts';
import { SnapshotTrial, waitForPass } from '../support/cluster/crash-trials.ts';
import { snapshotsOf } from '../support/cluster/pin-site.ts';
import type { Stack } from '../support/cluster/stack.ts';
import { TokenSite } from '../support/cluster/token-site.ts';

const makeSite = (stack: Stack): Promise<TokenSite> => TokenSite.make(stack, { kinds: ['SecretSnapshot'] });

describe.each(adaptersOfRun)('a controller %s that dies at its n-th message and starts again leaves', (adapter) => {
  const resources = new AsyncDisposableStack();
  let stage: CrashStage<TokenSite>;
  let snapshots: ReturnType<typeof snapshotsOf>;

  beforeAll(async () => {
    stage = await CrashStage.start(resources, makeSite, { adapter });
    snapshots = snapshotsOf({ kube: stage.stack.kube, namespace: stage.site.namespace });
  });

  afterAll(() => resources.disposeAsync());

  test(
    'of a new SecretSnapshot one snapshot',
    () =>
      stage.expectSurvived(() => {
        const snapshot = new SnapshotTrial({ stack: stage.stack, site: stage.site, snapshots });
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
      stage.expectSurvived(async () => {
        const snapshot = new SnapshotTrial({ stack: stage.stack, site: stage.site, snapshots });
        await snapshot.create('Delete');
        await waitForPass(() => snapshot.expectTaken());
        const { name } = snapshot;
        return {
          act: () => snapshots.delete(name),
          expectDone: async () => expect(await stage.stack.kube.find({ path: snapshots.path(name) })).toBeUndefined(),
          prove: () => snapshot.proveNone(),
        };
      }),
    limitMs,
  );
});
