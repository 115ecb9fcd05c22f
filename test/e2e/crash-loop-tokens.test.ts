import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { adaptersOfRun } from '../support/api/adapters.ts';
import { CrashStage, crashLimitMs as limitMs } from '../support/cluster/crash-stage.ts';
import { TokenTrial, waitForPass } from '../support/cluster/crash-trials.ts';
import { ageToken } from '../support/cluster/resource-rows.ts';
import { TokenSite } from '../support/cluster/token-site.ts';

describe.each(adaptersOfRun)('a controller %s that dies at its n-th message and starts again leaves', (adapter) => {
  const resources = new AsyncDisposableStack();
  let stage: CrashStage<TokenSite>;

  beforeAll(async () => {
    stage = await CrashStage.start(resources, (stack) => TokenSite.make(stack), { adapter });
  });

  afterAll(() => resources.disposeAsync());

  test(
    'of a new ServiceToken one token with one value that works',
    () =>
      stage.expectSurvived(async () => {
        const token = await TokenTrial.open(stage);
        return {
          act: () => token.create(),
          expectDone: () => token.expectIssued(1),
          prove: () => token.proveIssued(1),
          clear: () => token.clear(),
        };
      }),
    limitMs,
  );

  test(
    'of a ServiceToken that lost its Secret the next value, and the lost one dead',
    () =>
      stage.expectSurvived(async () => {
        const token = await TokenTrial.open(stage);
        await token.create();
        await waitForPass(() => token.expectIssued(1));
        return {
          act: () => stage.stack.kube.json({ method: 'DELETE', path: stage.site.secretPath(token.name) }),
          expectDone: () => token.expectIssued(2),
          prove: () => token.proveIssued(2),
          clear: () => token.clear(),
        };
      }),
    limitMs,
  );

  test(
    'of a ServiceToken that is rotated the next value, and the one before dead after the overlap',
    () =>
      stage.expectSurvived(async () => {
        const token = await TokenTrial.open(stage);
        await token.create({ rotation: { interval: '1h', overlap: '1s', maxOverlap: '1s' } });
        await waitForPass(() => token.expectIssued(1));
        await ageToken(stage.stack.databaseUrl, token.uid, 7200);
        return {
          act: () =>
            stage.site.patch({ metadata: { annotations: { 'keyframe.dev/reconcile-at': 'now' } } }, token.name),
          expectDone: () => token.expectIssued(2),
          prove: () => token.proveIssued(2),
          clear: () => token.clear(),
        };
      }),
    limitMs,
  );

  test(
    'of a ServiceToken that is deleted nothing that works',
    () =>
      stage.expectSurvived(async () => {
        const token = await TokenTrial.open(stage);
        await token.create();
        await waitForPass(() => token.expectIssued(1));
        return {
          act: () => stage.site.delete(token.name),
          expectDone: () => token.expectGone(),
          prove: () => token.proveDead(),
        };
      }),
    limitMs,
  );

  test(
    'of a new ServiceToken that is deleted before the next controller is there nothing that works',
    () =>
      stage.expectSurvived(async () => {
        const token = await TokenTrial.open(stage);
        return {
          act: () => token.create(),
          expectDone: () => token.expectIssued(1),
          meanwhile: () => stage.site.delete(token.name),
          expectSettled: () => token.expectGone(),
          prove: () => token.proveDead(),
        };
      }),
    limitMs,
  );
});
