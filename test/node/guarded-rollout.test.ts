import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { NodeImageNames } from '../support/node/node-image-names.ts';
import { NodeSite } from '../support/node/node-site.ts';
import { PodWatch } from './pod-watch.ts';
import { Release } from '../support/node/release.ts';
import { type Condition, SyncSite } from '../support/cluster/sync-site.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';
import { Workloads } from '../support/cluster/workloads.ts';
import { rolledBackAnnotation } from '../../src/controller/annotations.ts';

// One story of one application: each of its tests goes on where the one before has ended.

const patience = { timeoutMs: 90_000, pollMs: 100 };
const replicas = 2;
// Long enough for a good pod on a busy machine.
const deadlineSeconds = 10;
// A name of the test's own for an image that others use as well.
const ownImage = 'localhost/guarded-app:1';
const missingImage = 'localhost/guarded-app:none';
const allKept = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };

// Reports its mode, unless that is one which it cannot run in.
const script = `const { MODE = '', ENDS_IF } = process.env;
if (MODE.startsWith(ENDS_IF)) process.exit(3);
require('node:http').createServer((request, response) => response.end(MODE)).listen(8080);`;

const resources = new AsyncDisposableStack();
const site = new NodeSite(resources);
const imageNames = new NodeImageNames(site.node);
let release: Release;

beforeAll(async () => {
  await imageNames.add(site.images.app, ownImage);
  release = await Release.install(site, resources, { rollouts: 'true' });
});

afterAll(() => resources.disposeAsync());

async function makeSync(rollout: object): Promise<SyncSite> {
  const { client: admin } = await release.admin();
  const namespace = await site.makeNamespace('restricted');
  const options = { namespace, values: { MODE: 'one' }, spec: { rollout } };
  const sync = await SyncSite.make({ kube: site.kube, admin }, options);
  await sync.waitForValues({ MODE: 'one' }, patience);
  return sync;
}

interface AppOptions {
  readonly name: string;
  /** What its mode begins with where it ends with an error. */
  readonly endsIf?: string;
  readonly image?: string;
}

/** An application that reads its mode from the Secret as it starts, with all pods that it keeps ready at all times. */
async function deploy(sync: SyncSite, { name, endsIf: ENDS_IF = 'never', image }: AppOptions): Promise<PodWatch> {
  const { namespace, name: secretEnv } = sync;
  const spec = { strategy: allKept, progressDeadlineSeconds: deadlineSeconds };
  const app = { name, replicas, script, port: 8080, secretEnv, env: { ENDS_IF }, spec };
  await site.deploy(namespace, { ...app, ...(image === undefined ? {} : { image }) });
  return await PodWatch.open(resources, site.kube, { namespace, app: name });
}

/** What the ready pods report about themselves. */
async function modes(pods: PodWatch): Promise<string[]> {
  const answers = pods.ready.map(async ({ status }) => {
    const response = await fetch(`http://${status?.podIP}:8080`, { signal: AbortSignal.timeout(2_000) });
    return await response.text();
  });
  return await Promise.all(answers);
}

async function waitForMode(pods: PodWatch, mode: string): Promise<void> {
  const all = Array.from({ length: replicas }, () => mode).join();
  await waitFor(`all pods to run with ${mode}`, async () => (await modes(pods)).join() === all, patience);
}

/** Waits until all pods run with the data of a revision, and the condition says so. */
async function waitUntilConverged(sync: SyncSite, revision: number): Promise<Condition> {
  const what = `SecretSync ${sync.namespace} to have converged with revision ${revision}`;
  return await waitFor(
    what,
    async () => {
      const condition = await sync.condition('Converged');
      expect(condition).toMatchObject({ status: 'True', reason: 'Converged' });
      expect(condition?.message).toMatch(new RegExp(`with the data of revision ${revision}\\.$`));
      return condition;
    },
    patience,
  );
}

function namesOf(pods: PodWatch): string[] {
  return pods.ready.map(({ metadata }) => metadata.name).sort();
}

describe('An application whose Secret is taken back where its pods fail', () => {
  let sync: SyncSite;
  let pods: PodWatch;
  let good: number;

  beforeAll(async () => {
    const targets = [{ kind: 'Deployment', name: 'web' }];
    sync = await makeSync({ targets, timeout: '5m', onFailure: 'Rollback' });
    pods = await deploy(sync, { name: 'web', endsIf: 'broken', image: ownImage });
    await sync.waitForConverged('Converged', patience);
  });

  /** Of all that its tests do, nothing takes a pod away that the strategy keeps. */
  function expectAllKept(): void {
    expect(pods.fewestReady).toBe(replicas);
  }

  async function useImage(name: string): Promise<void> {
    const containers = [{ name: 'main', image: name, imagePullPolicy: 'IfNotPresent' }];
    await site.kube.json({
      method: 'PATCH',
      path: `/apis/apps/v1/namespaces/${sync.namespace}/deployments/web`,
      contentType: 'application/strategic-merge-patch+json',
      body: { spec: { template: { spec: { containers } } } },
    });
  }

  /** Waits until the status says why the pods are stuck with a revision; the Secret keeps that. */
  async function waitUntilStuck(value: string, cause: RegExp): Promise<void> {
    await waitFor(
      `Converged of ${sync.namespace} to report ${cause.source}`,
      async () => {
        const condition = await sync.condition('Converged');
        expect(condition).toMatchObject({ status: 'False', reason: 'RolloutStuck' });
        expect(condition?.message).toMatch(cause);
        return condition;
      },
      patience,
    );
    expect((await sync.condition('Converged'))?.message).toContain('the Secret is not rolled back');
    expect(await sync.condition('Ready')).toMatchObject({ status: 'True', reason: 'Synced' });
    expect(await sync.condition('RolledBack')).toBeUndefined();
    expect(await site.secretValue(sync.namespace, sync.name, 'MODE')).toBe(value);
  }

  test('runs with a good change in all pods', async () => {
    const before = namesOf(pods);
    ({ revision: good } = await sync.environment.change({ MODE: 'two' }));
    await waitForMode(pods, 'two');
    await waitUntilConverged(sync, good);
    expect(namesOf(pods)).not.toEqual(expect.arrayContaining([expect.stringMatching(before.join('|'))]));
    expectAllKept();
  });

  test('has its former values again after a change with which its pods crash, and runs with them', async () => {
    const before = namesOf(pods);
    pods.forget();
    const { revision: bad } = await sync.environment.change({ MODE: 'broken by hand' });
    const ready = await sync.waitForReason('RolledBack', patience);
    expect([...pods.reasons]).toContain('CrashLoopBackOff');
    expect(ready.status).toBe('False');
    expect(ready.message).toContain(`Secret app was rolled back to revision ${good}`);
    expect(ready.message).toMatch(
      new RegExp(`With revision ${bad} they failed \\(Deployment web, container main: (CrashLoopBackOff|Error)\\)`),
    );
    expect(await sync.condition('RolledBack')).toMatchObject({ status: 'True', reason: 'RolledBack' });
    const secret = await sync.waitForValues({ MODE: 'two' });
    expect(secret.metadata.annotations).toHaveProperty([rolledBackAnnotation]);
    await waitUntilConverged(sync, good);
    expect(await modes(pods)).toEqual(['two', 'two']);
    expect(namesOf(pods)).not.toEqual(expect.arrayContaining([expect.stringMatching(before.join('|'))]));
    expect(await sync.condition('Ready')).toMatchObject({ status: 'False', reason: 'RolledBack' });
    expect(JSON.stringify(await sync.sync())).not.toContain('broken by hand');
    expectAllKept();
  });

  test('goes forward with the next change', async () => {
    const { revision } = await sync.environment.change({ MODE: 'mended' });
    await waitForMode(pods, 'mended');
    await waitUntilConverged(sync, revision);
    const secret = await sync.waitUntilSynced({ MODE: 'mended' }, patience);
    expect(secret.metadata.annotations).not.toHaveProperty([rolledBackAnnotation]);
    expect(await sync.condition('RolledBack')).toBeUndefined();
    expectAllKept();
  });

  test('keeps a change after which it was given a missing image, and runs with it once that is fixed', async () => {
    pods.forget();
    await useImage(missingImage);
    const { revision } = await sync.environment.change({ MODE: 'three' });
    await waitUntilStuck('three', / \(its pod template has changed since it last converged\),/);
    expect([...pods.reasons]).toContain('ErrImagePull');
    expect(await modes(pods)).toEqual(['mended', 'mended']);
    await useImage(ownImage);
    await waitForMode(pods, 'three');
    await waitUntilConverged(sync, revision);
    expectAllKept();
  });

  test('keeps a change for which its own image is gone from the node, and runs with it once that is back', async () => {
    pods.forget();
    await imageNames.remove(ownImage);
    const { revision } = await sync.environment.change({ MODE: 'four' });
    await waitUntilStuck('four', /does not count as the cause \(container main: (ErrImagePull|ImagePullBackOff)\),/);
    expect([...pods.reasons]).toContain('ErrImagePull');
    expect(await modes(pods)).toEqual(['three', 'three']);
    await imageNames.add(site.images.app, ownImage);
    await waitForMode(pods, 'four');
    await waitUntilConverged(sync, revision);
    expectAllKept();
  });
});

describe('Two applications with one Secret that stays as it is', () => {
  test('have the one that failed mended before the other one is restarted again', async () => {
    const targets = ['picky', 'frank'].map((name) => ({ kind: 'Deployment', name }));
    const sync = await makeSync({ targets, timeout: '5m', onFailure: 'Hold' });
    const picky = await deploy(sync, { name: 'picky', endsIf: 'broken' });
    const frank = await deploy(sync, { name: 'frank' });
    await sync.waitForConverged('Converged', patience);
    await sync.environment.change({ MODE: 'broken' });
    const stuck = await sync.waitForConverged('RolloutStuck', patience);
    expect(stuck.message).toMatch(/^Deployment picky is stuck.*no other workload is restarted for a further change/);
    await waitForMode(frank, 'broken');
    expect(await modes(picky)).toEqual(['one', 'one']);
    const workloads = new Workloads(site.kube, sync.namespace);
    const generation = async (): Promise<number> =>
      (await workloads.get({ kind: 'Deployment', name: 'frank' })).metadata.generation;
    const before = await generation();
    const { revision } = await sync.environment.change({ MODE: 'mended' });
    await sync.waitForConverged('RolloutBlocked', patience);
    await waitFor('the other one to be restarted', async () => (await generation()) > before, patience);
    expect(await modes(picky)).toEqual(['mended', 'mended']);
    await waitUntilConverged(sync, revision);
    expect(await modes(frank)).toEqual(['mended', 'mended']);
    expect([picky.fewestReady, frank.fewestReady]).toEqual([replicas, replicas]);
  });
});
