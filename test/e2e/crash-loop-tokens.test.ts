import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { CrashLoop, type Trial } from '../support/crash-loop.ts';
import { type Strides, crashLimitMs as limitMs, expectSurvivedBy } from '../support/crash-series.ts';
import { TokenTrial, waitForPass } from '../support/crash-trials.ts';
import { ageToken } from '../support/resource-rows.ts';
import { Stack } from '../support/stack.ts';
import { TokenSite } from '../support/token-site.ts';

const resources = new AsyncDisposableStack();
let stack: Stack;
let loop: CrashLoop;
let site: TokenSite;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 1 });
  site = await TokenSite.make(stack);
  loop = await CrashLoop.start(resources, stack);
});

afterAll(() => resources.disposeAsync());

const expectSurvived = (strides: Strides, makeTrial: () => Promise<Trial>): Promise<void> =>
  expectSurvivedBy(loop, strides, makeTrial);

const openTrial = (): Promise<TokenTrial> => TokenTrial.open({ stack, site, api: loop.api });

describe('a controller that dies at its n-th message, and is started again, leaves', () => {
  test(
    'of a new ServiceToken one token with one value that works',
    () =>
      expectSurvived({ coarse: 4, statements: 40 }, async () => {
        const token = await openTrial();
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
      expectSurvived({ coarse: 5, statements: 60 }, async () => {
        const token = await openTrial();
        await token.create();
        await waitForPass(() => token.expectIssued(1));
        return {
          act: () => stack.kube.json({ method: 'DELETE', path: site.secretPath(token.name) }),
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
      expectSurvived({ coarse: 5, statements: 60 }, async () => {
        const token = await openTrial();
        await token.create({ rotation: { interval: '1h', overlap: '1s', maxOverlap: '1s' } });
        await waitForPass(() => token.expectIssued(1));
        await ageToken(stack.databaseUrl, token.uid, 7200);
        return {
          act: () => site.patch({ metadata: { annotations: { 'keyframe.dev/reconcile-at': 'now' } } }, token.name),
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
      expectSurvived({ coarse: 4, statements: 24 }, async () => {
        const token = await openTrial();
        await token.create();
        await waitForPass(() => token.expectIssued(1));
        return {
          act: () => site.delete(token.name),
          expectDone: () => token.expectGone(),
          prove: () => token.proveDead(),
        };
      }),
    limitMs,
  );

  test(
    'of a new ServiceToken that is deleted before the next controller is there nothing that works',
    () =>
      expectSurvived({ coarse: 5, statements: 60 }, async () => {
        const token = await openTrial();
        return {
          act: () => token.create(),
          expectDone: () => token.expectIssued(1),
          meanwhile: () => site.delete(token.name),
          expectSettled: () => token.expectGone(),
          prove: () => token.proveDead(),
        };
      }),
    limitMs,
  );
});
