import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { SecretSnapshot } from '../../src/controller/generated/secret-snapshot.ts';
import { CrashLoop, type Trial } from '../support/crash-loop.ts';
import { type Strides, crashLimitMs as limitMs, expectSurvivedBy } from '../support/crash-series.ts';
import { SnapshotTrial, TokenTrial, type TrialGround, waitForPass } from '../support/crash-trials.ts';
import { ResourceSite } from '../support/resource-site.ts';
import { RestoreSite } from '../support/restore-site.ts';
import { RestoreTrial } from '../support/restore-trial.ts';
import { ageToken } from '../support/resource-rows.ts';
import { Stack } from '../support/stack.ts';
import { TokenSite } from '../support/token-site.ts';

const resources = new AsyncDisposableStack();
let stack: Stack;
let loop: CrashLoop;
let site: TokenSite;
let snapshots: ResourceSite<SecretSnapshot>;
let ground: TrialGround;
let restoreSite: RestoreSite;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 2 });
  site = await TokenSite.make(stack, { kinds: ['ServiceToken', 'SecretSnapshot'] });
  resources.defer(() => site.withdraw());
  restoreSite = await RestoreSite.make(stack);
  resources.defer(() => restoreSite.withdraw());
  const { namespace } = site;
  const kind = { kind: 'SecretSnapshot', plural: 'secretsnapshots' };
  snapshots = new ResourceSite<SecretSnapshot>({ kube: stack.kube, namespace, ...kind });
  loop = await CrashLoop.start(resources, stack);
  ground = { stack, site, snapshots, api: loop.api };
}, 120_000);

afterAll(() => resources.disposeAsync());

const expectSurvived = (strides: Strides, makeTrial: () => Promise<Trial>): Promise<void> =>
  expectSurvivedBy(loop, strides, makeTrial);

describe('a controller that dies at its n-th message, and is started again, leaves', () => {
  test(
    'of a new ServiceToken one token with one value that works',
    () =>
      expectSurvived({ coarse: 1, statements: 14 }, async () => {
        const token = await TokenTrial.open(ground);
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
      expectSurvived({ coarse: 2, statements: 20 }, async () => {
        const token = await TokenTrial.open(ground);
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
      expectSurvived({ coarse: 2, statements: 40 }, async () => {
        const token = await TokenTrial.open(ground);
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
      expectSurvived({ coarse: 1, statements: 8 }, async () => {
        const token = await TokenTrial.open(ground);
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
      expectSurvived({ coarse: 2, statements: 40 }, async () => {
        const token = await TokenTrial.open(ground);
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

  test(
    'of a new SecretSnapshot one snapshot',
    () =>
      expectSurvived({ coarse: 2, statements: 8 }, () => {
        const snapshot = new SnapshotTrial(ground);
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
      expectSurvived({ coarse: 2, statements: 6 }, async () => {
        const snapshot = new SnapshotTrial(ground);
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

  test(
    'of a SnapshotRestore that is approved one restore, with one backup',
    () =>
      expectSurvived({ coarse: 1, statements: 8 }, async () => {
        const restore = await RestoreTrial.prepare(stack, restoreSite);
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
      expectSurvived({ coarse: 2, statements: 12 }, async () => {
        const restore = await RestoreTrial.prepare(stack, restoreSite);
        return {
          act: () => restore.create({ mode: 'Apply', allowUnplanned: true }),
          expectDone: () => restore.expectComplete(),
          prove: () => restore.proveOne(),
          clear: () => restore.clear(),
        };
      }),
    limitMs,
  );
});
