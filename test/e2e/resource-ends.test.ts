/** @default `kubectl wait` sees each kind become ready, and a namespace that is deleted takes what its resources own along. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Cluster } from '../../tools/devcluster/cluster/cluster.ts';
import type { SecretEnvironment } from '../../src/controller/generated/secret-environment.ts';
import type { SecretSync } from '../../src/controller/generated/secret-sync.ts';
import { fillNamespace, snapshotsIn } from '../support/cluster/filled-namespace.ts';
import { waitByKubectl } from '../support/cluster/kubectl.ts';
import { startOwnCluster } from '../support/cluster/own-cluster.ts';
import { ResourceSite } from '../support/cluster/resource-site.ts';
import { Stack } from '../support/cluster/stack.ts';
import { TokenSite } from '../support/cluster/token-site.ts';

const resources = new AsyncDisposableStack();
const both = { kinds: ['ServiceToken', 'SecretSnapshot'] };
let stack: Stack;
let cluster: Cluster;

beforeAll(async () => {
  // Of its own, because SecretEnvironments are the whole cluster's.
  cluster = await startOwnCluster(resources);
  stack = await Stack.start(resources, { namespaces: 2, adminKubeconfig: cluster.kubeconfig });
  // With rights in all namespaces: those that a Role gives in one go with it.
  const kubeconfigFile = join(cluster.runFolder, 'controller.kubeconfig');
  await stack.startController({ kubeconfigFile, env: { NAMESPACE: 'keyframe' } });
});

afterAll(() => resources.disposeAsync());

describe('kubectl wait --for=condition=Ready', () => {
  test('ends for each kind when it is ready, and not before', async () => {
    const { kube } = stack;
    const site = await TokenSite.make(stack, { ...both, granted: false });
    const { namespace, environment } = site;
    await site.create();
    await site.waitForReason('AccessDenied');
    await expect(waitByKubectl(cluster, { namespace, name: 'servicetoken/ci', condition: 'Ready' }, 1)).rejects.toThrow(
      'timed out waiting for the condition',
    );
    await site.grant();
    await snapshotsIn(stack, site).create({ source: { environmentRef: environment.ref } }, 'taken');
    const environments = new ResourceSite<SecretEnvironment>({
      kube,
      kind: 'SecretEnvironment',
      plural: 'secretenvironments',
    });
    await environments.create({ environmentRef: environment.ref }, 'found');
    const expectWaited = async (name: string): Promise<void> => {
      expect(await waitByKubectl(cluster, { namespace, name, condition: 'Ready' })).toMatch(/ condition met\n$/);
    };
    const made = [
      'servicetoken/ci',
      'secretsnapshot/taken',
      'secretenvironment/found',
      `accessgrant/${site.grantName}`,
    ];
    for (const name of made) await expectWaited(name);
    const syncs = new ResourceSite<SecretSync>({ kube, kind: 'SecretSync', plural: 'secretsyncs', namespace });
    await syncs.create({ environmentRef: environment.ref, tokenSecretRef: { name: 'ci' } }, 'app');
    await expectWaited('secretsync/app');
  });
});

describe('a namespace that is deleted', () => {
  test('goes with all that is in it, and takes its tokens and its snapshot along', async () => {
    const site = await TokenSite.make(stack, both);
    const { answers, snapshots } = await fillNamespace(stack, site);
    expect([await answers(), await snapshots()]).toEqual([[200, 200], 1]);
    await site.deleteNamespace();
    expect([await answers(), await snapshots()]).toEqual([[401, 401], 0]);
  });
});
