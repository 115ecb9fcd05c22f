import { afterEach, expect, test } from '@jest/globals';
import type { EnsuredEnvironment } from '../../../src/domain/resources/environments.ts';
import type { Condition } from '../../../src/controller/frame/conditions.ts';
import { Harness } from './controller-harness.ts';
import { settled } from './fake-clock.ts';
import { noResources, type ResourcesBackend } from './fake-services.ts';

/** SecretEnvironments make environments in the clusters of the installation only. */

const collection = '/apis/keyframe.dev/v1alpha1/secretenvironments';
let harness: Harness;
let ensured: number;

afterEach(() => harness.controller.stop());

async function start({ isHome, gate }: { readonly isHome: boolean; readonly gate?: Promise<void> }): Promise<void> {
  ensured = 0;
  const ensure: ResourcesBackend['environments']['ensure'] = () => {
    ensured += 1;
    const made: EnsuredEnvironment = {
      environmentId: 'env',
      revision: 0,
      revisionId: 'env-r0',
      secretCount: 0,
      created: true,
      hasOwner: true,
      namer: undefined,
    };
    return Promise.resolve(made);
  };
  const find: ResourcesBackend['environments']['find'] = () => Promise.resolve({ environmentId: 'env' });
  const resources = { ...noResources, environments: { ensure, find } } as unknown as ResourcesBackend;
  harness = new Harness({ resources, clusterName: 'uid' });
  harness.isHome = isHome;
  harness.helloGate = gate;
  harness.cluster.put('/api/v1/namespaces', 'kube-system', () => {});
  harness.cluster.put(collection, 'shop', (object) => {
    object['spec'] = {
      environmentRef: { organization: 'acme', project: 'web', name: 'prod' },
      deletionPolicy: 'Delete',
    };
  });
  await harness.start();
}

const finalizers = (): unknown => harness.cluster.get(`${collection}/shop`)?.metadata.finalizers ?? [];
const ready = (): Condition | undefined => {
  const status = harness.cluster.get(`${collection}/shop`)?.['status'] as { conditions?: Condition[] } | undefined;
  return status?.conditions?.find(({ type }) => type === 'Ready');
};

test('a SecretEnvironment of another cluster says so, asks for nothing and gets no finalizer', async () => {
  await start({ isHome: false });
  await harness.clock.advance(5_000);
  expect(ready()).toMatchObject({ status: 'False', reason: 'ServedAtHomeOnly' });
  expect(finalizers()).toEqual([]);
  expect(ensured).toBe(0);
});

test('a SecretEnvironment of a home cluster gets its finalizer first', async () => {
  await start({ isHome: true });
  await harness.clock.advance(5_000);
  expect(ready()).toMatchObject({ status: 'True' });
  expect(finalizers()).toEqual(['keyframe.dev/cleanup']);
});

test('a SecretEnvironment waits until it is known which cluster this is', async () => {
  const gate = Promise.withResolvers<void>();
  await start({ isHome: true, gate: gate.promise });
  await harness.clock.advance(5_000);
  expect([ensured, finalizers(), ready()]).toEqual([0, [], undefined]);
  gate.resolve();
  await settled();
  await harness.clock.advance(10_000);
  expect(ready()).toMatchObject({ status: 'True' });
  expect(finalizers()).toEqual(['keyframe.dev/cleanup']);
});
