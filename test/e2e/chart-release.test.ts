import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Cluster } from '../../tools/devcluster/cluster/cluster.ts';
import { KubeHttp, type KubeObject } from '../../tools/devcluster/cluster/kube-http.ts';
import { createNamespace } from '../support/cluster/cluster.ts';
import { chartFolder, neededValues, runHelm } from '../support/cluster/helm.ts';
import { JobRunner } from './job-runner.ts';
import { areKept, makeOwned } from './owned-secret.ts';
import { definitionsFolder, startOwnCluster } from '../support/cluster/own-cluster.ts';
import { formerChart, formerDefinitionsFolder, formerRelease, readDefinitions } from '../support/cluster/released.ts';

/** A release of the chart on a real API server: it brings its definitions, and leaves them. */

const resources = new AsyncDisposableStack();
let cluster: Cluster;
let admin: KubeHttp;

interface Server extends KubeObject {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly containers: readonly { readonly args: string[] }[];
        readonly initContainers?: readonly { readonly name: string }[];
        readonly volumes: readonly { readonly name: string }[];
      };
    };
  };
}

beforeAll(async () => {
  // The chart brings the definitions itself.
  cluster = await startOwnCluster(resources, { withoutDefinitions: true });
  admin = new KubeHttp(cluster.kubeconfig);
  resources.defer(() => admin.close());
  await createNamespace(admin, 'team-a');
});

afterAll(() => resources.disposeAsync());

describe('a release', () => {
  const release = ['keyframe', '--namespace', 'installed'];
  const definitionsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const server = '/apis/apps/v1/namespaces/installed/deployments/keyframe';

  /** The definitions that stay: one that is being deleted can be read for a while. */
  async function definitions(): Promise<string[]> {
    const { items } = await admin.json<{ items: KubeObject[] }>({ path: definitionsPath });
    const staying = items.filter(({ metadata }) => !Object.hasOwn(metadata, 'deletionTimestamp'));
    return staying.map(({ metadata }) => metadata.name).filter((name) => name.endsWith('.keyframe.dev'));
  }

  /** The names of all definitions of a folder. */
  function definitionsOf(folder: string): string[] {
    return readDefinitions(folder).map(({ metadata }) => metadata.name);
  }

  async function accounts(): Promise<string[]> {
    const path = '/api/v1/namespaces/installed/serviceaccounts';
    const { items } = await admin.json<{ items: KubeObject[] }>({ path });
    return items.map(({ metadata }) => metadata.name);
  }

  async function rolesOf(): Promise<string[]> {
    const path = '/apis/apps/v1/namespaces/installed/deployments';
    const { items } = await admin.json<{ items: Server[] }>({ path });
    return items.flatMap(({ spec }) => spec.template.spec.containers.flatMap(({ args }) => args)).sort();
  }

  /** The names of the controller's init containers and volumes. */
  async function partsOfController(): Promise<string[]> {
    const { spec } = await admin.json<Server>({ path: `${server}-controller` });
    const { initContainers = [], volumes } = spec.template.spec;
    return [...initContainers, ...volumes].map(({ name }) => name);
  }

  test(`of ${formerRelease} is upgraded with its definitions, rolled back, and removed without them; its hooks run and go`, async () => {
    const jobs = new JobRunner(admin, 'installed');
    resources.defer(() => jobs.stop());
    const values = [...neededValues, '--set', 'replicas=2,resources.limits.memory=1Gi'];
    await runHelm(['install', ...release, formerChart, '--create-namespace', ...values], cluster);
    expect(jobs.ran).toEqual(['keyframe-init']);
    expect((await definitions()).sort()).toEqual(definitionsOf(formerDefinitionsFolder).sort());
    // As docs/upgrade.md says: the values that were given stay, and the defaults are those of the new chart.
    const upgrade = ['upgrade', ...release, chartFolder, '--reset-then-reuse-values'];
    await runHelm([...upgrade, '--set', 'rollouts=true'], cluster);
    const newest = definitionsOf(definitionsFolder).sort();
    expect((await definitions()).sort()).toEqual(newest);
    expect(await admin.json({ path: server })).toMatchObject({ spec: { replicas: 2 } });
    expect(await admin.json({ path: `${server}-controller` })).toMatchObject({
      spec: { template: { spec: { containers: [{ resources: { limits: { memory: '1Gi' } } }] } } },
    });
    expect(await rolesOf()).toEqual(['api', 'controller']);
    expect(await partsOfController()).toEqual(['cluster-token', 'server-ca']);
    expect(jobs.ran).toEqual(['keyframe-init', 'keyframe-init']);
    await runHelm(['rollback', ...release], cluster);
    expect(await rolesOf()).toEqual(['api', 'controller']);
    expect(await partsOfController()).toEqual(['migrate', 'database', 'database-owner', 'root-key']);
    await runHelm(upgrade, cluster);
    const owned = await makeOwned(admin, 'team-a');
    await runHelm(['uninstall', ...release], cluster);
    expect(jobs.ran).toEqual(['keyframe-init', 'keyframe-init', 'keyframe-init', 'keyframe-pre-delete']);
    expect(await accounts()).toEqual(['default']);
    expect([await areKept(admin, owned), (await admin.send({ path: server })).status]).toEqual([true, 404]);
    expect((await definitions()).sort()).toEqual(newest);
  });
});
