import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Cluster } from '../../tools/devcluster/cluster/cluster.ts';
import { installCustomResources } from '../../tools/devcluster/cluster/custom-resources.ts';
import { definitionsFolder, startOwnCluster } from '../support/cluster/own-cluster.ts';
import { conditionsOf, readyOf } from '../support/cluster/resource-site.ts';
import { RestoreSite, applyUnplanned, drifted } from '../support/cluster/restore-site.ts';
import { Stack } from '../support/cluster/stack.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

/** A restore without a plan does what its own spec says, at once or never, and nothing that another user puts in its way. */

const resources = new AsyncDisposableStack();
const again = { metadata: { annotations: { 'keyframe.dev/reconcile-at': 'now' } } };
const definitionPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/snapshotrestores.keyframe.dev';
let cluster: Cluster;
let stack: Stack;

beforeAll(async () => {
  // Of its own, because a definition is changed.
  cluster = await startOwnCluster(resources);
  stack = await Stack.start(resources, { namespaces: 8, adminKubeconfig: cluster.kubeconfig });
  const kubeconfigFile = join(cluster.runFolder, 'controller.kubeconfig');
  await stack.startController({ kubeconfigFile, env: { NAMESPACE: 'keyframe' } });
});

afterAll(() => resources.disposeAsync());

/** A site with a snapshot, as a SecretSnapshot `good`, and changes since. */
async function driftedSite(): Promise<{ site: RestoreSite; uid: string }> {
  const site = await RestoreSite.make(stack);
  const snapshotId = await site.drift();
  await site.snapshots.create({ source: { snapshotId } }, 'good');
  const { metadata } = await site.snapshots.waitForReason('good', 'Adopted');
  return { site, uid: metadata.uid };
}

/** Expects that a restore was refused for good, and that nothing brings it back. */
async function expectRefusedForGood(site: RestoreSite, name: string, why: string): Promise<void> {
  const refused = await site.restores.waitForReason(name, 'UnplannedRefused');
  expect(conditionsOf(refused)).toEqual(expect.arrayContaining(['Ready False', 'Stalled True', 'Failed True']));
  const message = readyOf(refused)?.message ?? '';
  expect(message).toContain(why);
  expect(message).toContain('Create another SnapshotRestore');
  const { resourceVersion } = refused.metadata;
  await site.restores.patch(name, again);
  // Another one is carried out after it: by then the first one has been reconciled again.
  await proveReconciled(site);
  const still = await site.restores.get(name);
  expect(readyOf(still)).toMatchObject({ reason: 'UnplannedRefused', message });
  expect(still.metadata.resourceVersion).not.toBe(resourceVersion);
  expect(still.status?.result).toBeUndefined();
}

async function proveReconciled(site: RestoreSite): Promise<void> {
  const name = await site.restores.create({ snapshotId: await site.snapshot() });
  await site.planned(name);
}

test('by the uid of a SecretSnapshot restores what that holds, with a backup', async () => {
  const { site, uid } = await driftedSite();
  const spec = { ...applyUnplanned(site.environment), snapshotRef: { name: 'good', uid } };
  const { status } = await site.restores.waitForReason(await site.restores.create(spec), 'Complete');
  expect(status?.backupSnapshotId).toBeDefined();
  expect((await site.values())['A']).toBe('old');
});

describe('it is refused for good', () => {
  test('if another SecretSnapshot has taken the name', async () => {
    const { site, uid } = await driftedSite();
    const other = await site.snapshot();
    await site.snapshots.delete('good');
    await site.snapshots.waitUntilGone('good');
    await site.snapshots.create({ source: { snapshotId: other } }, 'good');
    await site.snapshots.waitForReason('good', 'Adopted');
    const spec = { ...applyUnplanned(site.environment), snapshotRef: { name: 'good', uid } };
    await expectRefusedForGood(site, await site.restores.create(spec), 'another one has its name');
    expect(await site.values()).toEqual(drifted);
  });

  test('if the snapshot is of another environment', async () => {
    const { site, uid } = await driftedSite();
    const environmentRef = { ...site.environment.ref, name: 'another' };
    const spec = { ...applyUnplanned(site.environment), environmentRef, snapshotRef: { name: 'good', uid } };
    await expectRefusedForGood(site, await site.restores.create(spec), 'spec.environmentRef names');
    expect(await site.values()).toEqual(drifted);
  });

  test('if the SecretSnapshot has no snapshot yet, also when it has one later', async () => {
    const site = await RestoreSite.make(stack);
    await site.snapshots.create({ source: { environmentRef: site.environment.ref }, suspend: true }, 'later');
    const { uid } = (await site.snapshots.waitForReason('later', 'Suspended')).metadata;
    const spec = { ...applyUnplanned(site.environment), snapshotRef: { name: 'later', uid } };
    const name = await site.restores.create(spec);
    await site.restores.waitForReason(name, 'UnplannedRefused');
    await site.snapshots.patch('later', { spec: { suspend: false } });
    await site.snapshots.waitForReason('later', 'Taken');
    await site.environment.change({ A: 'changed' });
    await expectRefusedForGood(site, name, 'has no snapshot yet');
    expect(await site.values()).toEqual({ A: 'changed' });
  });

  test('if no grant covers it, also when one does later', async () => {
    const { site, uid } = await driftedSite();
    await site.withdraw();
    const spec = { ...applyUnplanned(site.environment), snapshotRef: { name: 'good', uid } };
    const name = await site.restores.create(spec);
    const refused = await site.restores.waitForReason(name, 'UnplannedRefused');
    expect(readyOf(refused)?.message).toContain('kind: AccessGrant');
    await site.grant();
    await expectRefusedForGood(site, name, 'kind: AccessGrant');
    expect(await site.values()).toEqual(drifted);
  });
});

test('with a plan, the named environment and uid are compared, too', async () => {
  const { site, uid } = await driftedSite();
  const environmentRef = { ...site.environment.ref, name: 'another' };
  const elsewhere = await site.restores.create({ environmentRef, snapshotRef: { name: 'good', uid } });
  await site.restores.waitForReason(elsewhere, 'SnapshotMismatch');
  const spec = { environmentRef: site.environment.ref, snapshotRef: { name: 'good', uid } };
  expect(await site.planned(await site.restores.create(spec))).toMatch(/^[\w-]{43}$/);
});

describe('one that was stored before the definition asked for all that', () => {
  test('stays valid, and is refused with what it lacks; by its hash it can still be approved', async () => {
    const { site } = await driftedSite();
    await withoutNewRules();
    const spec = { snapshotRef: { name: 'good' }, mode: 'Apply', allowUnplanned: true, backup: false, suspend: true };
    await waitFor('the former definition to hold', async () => {
      await site.restores.create(spec, 'stored');
      return true;
    });
    await installCustomResources(stack.kube, definitionsFolder);
    await waitFor('the present definition to hold', async () => {
      try {
        await site.restores.delete(await site.restores.create(spec));
        return false;
      } catch (error) {
        return String(error).includes('allowUnplanned needs environmentRef');
      }
    });
    await site.restores.patch('stored', { metadata: { labels: { touched: 'yes' } } });
    await site.restores.patch('stored', { spec: { suspend: false } });
    const lacks = 'It lacks spec.environmentRef, spec.snapshotId or spec.snapshotRef.uid, spec.backup: true.';
    await expectRefusedForGood(site, 'stored', lacks);
    expect(await site.values()).toEqual(drifted);
    await site.restores.patch('stored', { spec: { planHash: 'x'.repeat(43) } });
    const { status } = await site.restores.waitForReason('stored', 'PlanOutdated');
    await site.restores.patch('stored', { spec: { planHash: status?.planHash } });
    await site.restores.waitForReason('stored', 'Complete');
  });
});

/** Puts the definition back to what it was before it knew rules for new objects alone. */
async function withoutNewRules(): Promise<void> {
  const definition = await stack.kube.json<Definition>({ path: definitionPath });
  const spec = definition.spec.versions[0]?.schema.openAPIV3Schema.properties.spec;
  const rules = spec?.['x-kubernetes-validations'] ?? [];
  const former = rules.filter(({ optionalOldSelf }) => optionalOldSelf !== true);
  expect(rules.length - former.length).toBe(3);
  const path = '/spec/versions/0/schema/openAPIV3Schema/properties/spec/x-kubernetes-validations';
  const body = [{ op: 'replace', path, value: former }];
  await stack.kube.json({ method: 'PATCH', path: definitionPath, contentType: 'application/json-patch+json', body });
}

interface Definition {
  readonly spec: {
    readonly versions: readonly {
      readonly schema: {
        readonly openAPIV3Schema: {
          readonly properties: {
            readonly spec: {
              readonly 'x-kubernetes-validations': readonly {
                readonly rule: string;
                readonly optionalOldSelf?: boolean;
              }[];
            };
          };
        };
      };
    }[];
  };
}
