import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { requestToken } from '../../tools/devcluster/cluster/controller-account.ts';
import { writeKubeconfigFor } from '../../tools/devcluster/cluster/kubeconfig.ts';
import type { SecretSnapshot } from '../../src/controller/generated/secret-snapshot.ts';
import type { SnapshotRestore } from '../../src/controller/generated/snapshot-restore.ts';
import type { SnapshotSchedule } from '../../src/controller/generated/snapshot-schedule.ts';
import { ToolHealth } from '../support/cluster/tool-health.ts';
import { ArgoSync } from './argo-sync.ts';
import { buildPatienceMs } from '../support/cluster/cluster-cache.ts';
import { exampleThemes, examplesFolder } from '../support/fixtures/example-page.ts';
import { ExampleSite } from '../support/fixtures/example-site.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

const resources = new AsyncDisposableStack();
let site: ExampleSite;
let health: ToolHealth;

beforeAll(async () => {
  site = await ExampleSite.start(resources);
  health = await ToolHealth.open();
}, 60_000 + buildPatienceMs);

afterAll(() => resources.disposeAsync());

const run = (command: string): Promise<string> => site.run(command);
const step = (heading: string, number: number): Promise<string> => site.step(heading, number);
const valuesOf = (namespace: string, name: string): ReturnType<ExampleSite['values']> => site.values(namespace, name);

const imageOf = async (namespace: string): Promise<string> =>
  await run(`kubectl get deployment web -n ${namespace} -o jsonpath='{.spec.template.spec.containers[0].image}'`);

describe('«A snapshot before each deploy»', () => {
  test('a deploy has a snapshot before it or does not happen, and the way back leads to what that held', async () => {
    const heading = 'A snapshot before each deploy';
    await step(heading, 1);
    expect(await imageOf('shop')).toMatch(/:4f2c9d1$/);
    const good = { API_URL: 'https://api.example', TIMEOUT: '5s' };
    expect(await valuesOf('shop', 'web')).toEqual(good);
    await step(heading, 2);
    expect(await valuesOf('shop', 'web')).toEqual(good);
    await step(heading, 3);
    expect(await valuesOf('shop', 'web')).toEqual(good);
    await provesAccountOfJob();
  });
});

/** The job's account can run the script and nothing else; without a snapshot the script deploys nothing. */
async function provesAccountOfJob(): Promise<void> {
  const kubeconfig = join(site.cli.folder, 'ci.kubeconfig');
  const token = await requestToken(site.stack.kube, { namespace: 'shop', name: 'ci', seconds: 3600 });
  writeKubeconfigFor(kubeconfig, site.cluster.kubeconfig, { name: 'ci', token });
  const done = await site.reader.attempt('examples/ci-snapshot/deploy.sh aaaaaaa', kubeconfig);
  expect(done).toMatchObject({ code: 0, stdout: expect.stringMatching(/^before-aaaaaaa-\w{5}\n$/) });
  expect(await imageOf('shop')).toMatch(/:aaaaaaa$/);
  const read = await site.reader.attempt('kubectl get secret web -n shop', kubeconfig);
  expect(read).toMatchObject({ code: 1, stderr: expect.stringContaining('Forbidden') });
  await run('kubectl delete accessgrants.keyframe.dev shop');
  const refused = await site.reader.attempt('SNAPSHOT_TIMEOUT=1s examples/ci-snapshot/deploy.sh bbbbbbb', kubeconfig);
  expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('timed out') });
  expect(await imageOf('shop')).toMatch(/:aaaaaaa$/);
}

describe('«A snapshot before each sync»', () => {
  const heading = 'A snapshot before each sync';
  const good = { API_URL: 'https://api.example', TIMEOUT: '5s' };

  test('a user who goes through its steps by hand has a snapshot, a way back, and else nothing synced', async () => {
    await step(heading, 1);
    await step(heading, 2);
    expect(await valuesOf('cart', 'web')).toEqual(good);
    expect(await step(heading, 3)).toMatch(/Deleted:\s+1: RETRIES/);
    expect(await valuesOf('cart', 'web')).toEqual(good);
    expect(await step(heading, 4)).toContain('apply one such as:');
    await step(heading, 5);
  });

  test('Argo CD gets one for each sync, under the name of its commit', async () => {
    const first = await sync('4f2c9d1e', 1);
    await run('keyframe set -o acme -p cart -e production TIMEOUT=9s');
    const second = await sync('aaaaaaaa', 2);
    expect([first.hookName, second.hookName]).toEqual([
      expect.stringMatching(/^before-sync-4f2c9d1-presync-\d+$/),
      expect.stringMatching(/^before-sync-aaaaaaa-presync-\d+$/),
    ]);
    const [before, after] = [await first.hook(), await second.hook()];
    expect(after.status?.revision).toBe((before.status?.revision ?? 0) + 1);
    expect(after.status?.snapshotId).not.toBe(before.status?.snapshotId);
    const { snapshots } = await site.stack.admin.call<{ snapshots: { id: string }[] }>('GET', cartSnapshots);
    expect(snapshots.map(({ id }) => id)).toEqual(
      expect.arrayContaining([before.status?.snapshotId, after.status?.snapshotId]),
    );
  });

  test('Argo CD syncs nothing as long as no snapshot can be taken, and reports why', async () => {
    await run('kubectl delete accessgrants.keyframe.dev cart');
    const begun = await begin('bbbbbbbb');
    const waiting = await waitFor('the hook to report what is missing', async () => {
      const state = await begun.state();
      expect(state.message).toContain('no AccessGrant allows that to namespace cart');
      return state;
    });
    expect(waiting.phase).toBe('Running');
    expect(await imageOf('cart')).toMatch(/:2$/);
    await run('kubectl apply -f examples/argocd-hook/platform.yaml');
    expect(await begun.end(() => deploy(3))).toMatchObject({ phase: 'Succeeded' });
    expect(await imageOf('cart')).toMatch(/:3$/);
  });

  test('the snapshot of a sync stays for its days, and goes with its SecretSnapshot', async () => {
    const done = await sync('cccccccc', 4);
    const { status, metadata } = await done.hook();
    const days = (Date.parse(status?.expiresAt ?? '') - Date.parse(status?.takenAt ?? '')) / 86_400_000;
    expect(days).toBe(30);
    await run(`kubectl delete secretsnapshots.keyframe.dev -n cart ${metadata.name}`);
    const { snapshots } = await site.stack.admin.call<{ snapshots: { id: string }[] }>('GET', cartSnapshots);
    expect(snapshots.map(({ id }) => id)).not.toContain(status?.snapshotId);
  });
});

const cartSnapshots = '/snapshots/acme/cart/production';
const hookFile = join(examplesFolder, 'argocd-hook', 'hook.yaml');
const application = 'examples/argocd-hook/application.yaml';
const deploy = (image: number): Promise<string> => run(`sed s/web:1/web:${image}/ ${application} | kubectl apply -f -`);

async function begin(commit: string): Promise<ArgoSync> {
  return await ArgoSync.begin({ kube: site.stack.kube, health, hookFile, commit });
}

/** A whole sync of a commit with this image. */
async function sync(commit: string, image: number): Promise<ArgoSync> {
  const begun = await begin(commit);
  expect(await begun.end(() => deploy(image))).toMatchObject({ phase: 'Succeeded' });
  expect(await imageOf('cart')).toMatch(new RegExp(`:${image}$`));
  return begun;
}

describe('«A restore with a separate approver»', () => {
  test('who plans the way back is refused to approve it, and who approves it has it carried out', async () => {
    const heading = 'A restore with a separate approver';
    const good = { API_URL: 'https://api.example', TIMEOUT: '5s' };
    await step(heading, 1);
    expect(await valuesOf('orders', 'orders')).toEqual(good);
    await step(heading, 2);
    const { status } = await site.resource<SnapshotRestore>('orders', 'snapshotrestores', 'back-to-good');
    const approval = JSON.stringify({ spec: { mode: 'Apply', planHash: status?.planHash } });
    const user = 'system:serviceaccount:orders:planner';
    const patch = `kubectl patch --as=${user} snapshotrestores.keyframe.dev back-to-good -n orders --type merge`;
    const refused = await site.reader.attempt(`${patch} -p '${approval}'`);
    const why = `user "${user}" may plan restores here, but not approve one`;
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(why) });
    expect(await valuesOf('orders', 'orders')).not.toEqual(good);
    await step(heading, 3);
    expect(await valuesOf('orders', 'orders')).toEqual(good);
  });
});

describe('«Nightly snapshots»', () => {
  test('a schedule reports when its next snapshot is due, and what was taken by hand is pruned by hand', async () => {
    const heading = 'Nightly snapshots';
    await step(heading, 1);
    const { status } = await site.resource<SnapshotSchedule>('ledger', 'snapshotschedules', 'nightly');
    const next = new Date(status?.nextTime ?? '');
    const clock = new Intl.DateTimeFormat('en-GB', { timeZone: 'Europe/Berlin', timeStyle: 'short' });
    expect([clock.format(next), next.getTime() - Date.now() < 25 * 3_600_000]).toEqual(['02:30', true]);
    // All are kept, as the text has it.
    expect(await step(heading, 2)).toBe('');
    expect(await step(heading, 3)).toMatch(/deleted\s+\S+\s+by-hand-1/);
    const kept = await site.stack.admin.call<{ snapshots: { name: string }[] }>(
      'GET',
      '/snapshots/acme/ledger/production',
    );
    const byHand = kept.snapshots.map(({ name }) => name).filter((name) => name.startsWith('by-hand-'));
    expect(byHand).toEqual(['by-hand-3', 'by-hand-2']);
  });
});

describe('«A rebuilt cluster»', () => {
  test('its resources stand for the same snapshot, take over the Secret that was saved, and lead back', async () => {
    const heading = 'A rebuilt cluster';
    const good = { API_URL: 'https://api.example', TIMEOUT: '5s' };
    const present = { ...good, API_URL: 'https://api.invalid', RETRIES: 'none' };
    await step(heading, 1);
    const snapshot = await site.resource<SecretSnapshot>('books', 'secretsnapshots', 'release-7');
    await step(heading, 2);
    const gone = await site.stack.kube.find({ path: '/api/v1/namespaces/books' });
    expect(gone).toBeUndefined();
    await step(heading, 3);
    const adopted = await site.resource<SecretSnapshot>('books', 'secretsnapshots', 'release-7');
    expect(adopted.metadata.uid).not.toBe(snapshot.metadata.uid);
    expect(adopted.status).toMatchObject({
      snapshotId: snapshot.status?.snapshotId,
      digest: snapshot.status?.digest,
      takenAt: snapshot.status?.takenAt,
    });
    expect(await valuesOf('books', 'stable')).toEqual(good);
    expect(await valuesOf('books', 'app')).toEqual(present);
    // The very object that was brought along.
    const { metadata } = (await site.secret('books', 'app')) as { metadata: { managedFields?: { manager: string }[] } };
    expect(metadata.managedFields?.map(({ manager }) => manager)).toContain('kubectl-create');
    await step(heading, 4);
    await step(heading, 5);
    expect(await valuesOf('books', 'app')).toEqual(good);
    expect(await valuesOf('books', 'stable')).toEqual(good);
  });
});

test('no command of these sections is left that was not run', () => {
  expect(site.reader.untried(exampleThemes.snapshots)).toEqual([]);
});
