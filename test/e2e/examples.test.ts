import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { requireApprovals } from '../../scripts/cluster/approvals.ts';
import { requestToken } from '../../scripts/cluster/controller-account.ts';
import { writeKubeconfigFor } from '../../scripts/cluster/kubeconfig.ts';
import type { Cluster } from '../../scripts/cluster/cluster.ts';
import type { SnapshotRestore } from '../../src/controller/generated/snapshot-restore.ts';
import type { ServiceToken } from '../../src/controller/generated/service-token.ts';
import type { SnapshotSchedule } from '../../src/controller/generated/snapshot-schedule.ts';
import type { Resource } from '../../src/controller/resource.ts';
import type { CliRunner } from '../support/cli.ts';
import { buildPatienceMs } from '../support/cluster-cache.ts';
import { ExampleReader } from '../support/example-reader.ts';
import { startOwnCluster } from '../support/own-cluster.ts';
import { ageToken } from '../support/resource-rows.ts';
import { readyOf } from '../support/resource-site.ts';
import { type SecretObject, secretValues } from '../support/secret-watch.ts';
import type { Stack } from '../support/stack.ts';
import { waitFor } from '../support/wait-for.ts';
import { startWholeInstallation } from '../support/whole-installation.ts';
import { Workloads } from '../support/workloads.ts';

jest.setTimeout(90_000);

const resources = new AsyncDisposableStack();
let stack: Stack;
let cluster: Cluster;
let cli: CliRunner;
let reader: ExampleReader;

beforeAll(async () => {
  cluster = await startOwnCluster(resources);
  ({ stack, cli } = await startWholeInstallation(resources, cluster, { ROLLOUTS: 'true' }));
  await requireApprovals(stack.kube);
  reader = await ExampleReader.create({ cli, cluster, stack });
}, 60_000 + buildPatienceMs);

afterAll(() => resources.disposeAsync());

const run = (command: string): Promise<string> => reader.run(command);
const step = (heading: string, number: number): Promise<string> => reader.step(heading, number);

async function secretOf(namespace: string, name: string): Promise<SecretObject | undefined> {
  return await stack.kube.find<SecretObject>({ path: `/api/v1/namespaces/${namespace}/secrets/${name}` });
}

async function valuesOf(namespace: string, name: string): Promise<Record<string, string> | undefined> {
  const secret = await secretOf(namespace, name);
  return secret && Object.fromEntries(secretValues(secret));
}

function pathOf(namespace: string, plural: string, name: string): string {
  return `/apis/keyframe.dev/v1alpha1/namespaces/${namespace}/${plural}/${name}`;
}

/** The condition Ready of a resource. */
async function readyIn(
  namespace: string,
  plural: string,
  name: string,
): Promise<{ status: string; reason: string; message: string } | undefined> {
  return readyOf(await stack.kube.json<Resource>({ path: pathOf(namespace, plural, name) }));
}

/** What the API answers to a read with a token of an environment of the organization. */
async function answer(token: string | undefined, place: string): Promise<number> {
  const { status } = await stack.admin.as(token ?? '').send('GET', `/secrets/acme/${place}`);
  return status;
}

describe('«Several teams»', () => {
  test('two teams get what their grants cover, tell what is missing otherwise, and lose it with the label', async () => {
    const heading = 'Several teams';
    await step(heading, 1);
    expect(await valuesOf('payments', 'app')).toEqual({ STRIPE_KEY: 'sk-payments' });
    expect(await valuesOf('search', 'app')).toEqual({ INDEX_KEY: 'ix-search' });
    for (const team of ['payments', 'search']) {
      expect(await valuesOf(team, 'shared')).toEqual({ CA_URL: 'https://ca.example' });
    }
    const dashboard = (await valuesOf('payments', 'dashboard'))?.['token'];
    expect(await answer(dashboard, 'payments/production')).toBe(200);
    expect(await answer(dashboard, 'search/production')).toBe(404);
    await stack.admin
      .as((await valuesOf('payments', 'seed-staging'))?.['token'] ?? '')
      .call('PATCH', '/secrets/acme/payments/staging', { set: { SEED: 'x' } });
    await step(heading, 2);
    await waitFor('the SecretSync to tell what its ServiceToken lacks', async () => {
      const peek = await readyIn('search', 'secretsyncs', 'peek');
      expect(peek).toMatchObject({ reason: 'ServiceTokenNotReady', message: expect.stringContaining('AccessDenied') });
      return true;
    });
    for (const [namespace, plural, name] of [
      ['search', 'servicetokens', 'dashboard'],
      ['payments', 'servicetokens', 'write-production'],
      ['payments', 'secretsnapshots', 'of-production'],
    ] as const) {
      expect(await readyIn(namespace, plural, name)).toMatchObject({ status: 'False', reason: 'AccessDenied' });
    }
    expect(await secretOf('search', 'peek')).toBeUndefined();
    expect(await secretOf('search', 'dashboard')).toBeUndefined();
    await step(heading, 3);
    expect(await answer(dashboard, 'payments/production')).toBe(401);
    expect(await valuesOf('payments', 'app')).toEqual({ STRIPE_KEY: 'sk-payments' });
    await step(heading, 4);
    expect(await answer(dashboard, 'payments/production')).toBe(200);
  });
});

const deployedImage = async (): Promise<string> =>
  await run(`kubectl get deployment web -n shop -o jsonpath='{.spec.template.spec.containers[0].image}'`);

describe('«A snapshot before each deploy»', () => {
  test('a deploy has a snapshot before it or does not happen, and the way back leads to what that held', async () => {
    const heading = 'A snapshot before each deploy';
    await step(heading, 1);
    expect(await deployedImage()).toMatch(/:4f2c9d1$/);
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
  const kubeconfig = join(cli.folder, 'ci.kubeconfig');
  const token = await requestToken(stack.kube, { namespace: 'shop', name: 'ci', seconds: 3600 });
  writeKubeconfigFor(kubeconfig, cluster.kubeconfig, { name: 'ci', token });
  const done = await reader.attempt('examples/ci-snapshot/deploy.sh aaaaaaa', kubeconfig);
  expect(done).toMatchObject({ code: 0, stdout: expect.stringMatching(/^before-aaaaaaa-\w{5}\n$/) });
  expect(await deployedImage()).toMatch(/:aaaaaaa$/);
  const read = await reader.attempt('kubectl get secret web -n shop', kubeconfig);
  expect(read).toMatchObject({ code: 1, stderr: expect.stringContaining('Forbidden') });
  await run('kubectl delete accessgrant shop');
  const refused = await reader.attempt('SNAPSHOT_TIMEOUT=1s examples/ci-snapshot/deploy.sh bbbbbbb', kubeconfig);
  expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('timed out') });
  expect(await deployedImage()).toMatch(/:aaaaaaa$/);
}

describe('«A restore that somebody else approves»', () => {
  test('who plans the way back is refused to approve it, and who approves it has it carried out', async () => {
    const heading = 'A restore that somebody else approves';
    const good = { API_URL: 'https://api.example', TIMEOUT: '5s' };
    await step(heading, 1);
    expect(await valuesOf('orders', 'orders')).toEqual(good);
    await step(heading, 2);
    const path = pathOf('orders', 'snapshotrestores', 'back-to-good');
    const { status } = await stack.kube.json<SnapshotRestore>({ path });
    const approval = JSON.stringify({ spec: { mode: 'Apply', planHash: status?.planHash } });
    const user = 'system:serviceaccount:orders:planner';
    const patch = `kubectl patch --as=${user} snapshotrestore back-to-good -n orders --type merge`;
    const refused = await reader.attempt(`${patch} -p '${approval}'`);
    const why = `user "${user}" may plan restores here, but not approve one`;
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(why) });
    expect(await valuesOf('orders', 'orders')).not.toEqual(good);
    await step(heading, 3);
    expect(await valuesOf('orders', 'orders')).toEqual(good);
  });
});

describe('«Snapshots every night»', () => {
  test('a schedule tells when its next snapshot is due, and what was taken by hand is pruned by hand', async () => {
    const heading = 'Snapshots every night';
    await step(heading, 1);
    const path = pathOf('ledger', 'snapshotschedules', 'nightly');
    const { status } = await stack.kube.json<SnapshotSchedule>({ path });
    const next = new Date(status?.nextTime ?? '');
    const clock = new Intl.DateTimeFormat('en-GB', { timeZone: 'Europe/Berlin', timeStyle: 'short' });
    expect([clock.format(next), next.getTime() - Date.now() < 25 * 3_600_000]).toEqual(['02:30', true]);
    expect(await step(heading, 2)).toMatch(/deleted\s+\S+\s+by-hand-1/);
    const kept = await stack.admin.call<{ snapshots: { name: string }[] }>('GET', '/snapshots/acme/ledger/production');
    const byHand = kept.snapshots.map(({ name }) => name).filter((name) => name.startsWith('by-hand-'));
    expect(byHand).toEqual(['by-hand-3', 'by-hand-2']);
  });
});

describe('«A canary beside a pinned production»', () => {
  test('production stays on its release until the pin moves, and goes back with it', async () => {
    const heading = 'A canary beside a pinned production';
    const first = { API_URL: 'https://v1.example', LEGACY: 'on' };
    const second = { API_URL: 'https://v2.example' };
    await step(heading, 1);
    expect(await valuesOf('web', 'web')).toEqual(first);
    expect(await valuesOf('web', 'web-canary')).toEqual(first);
    await step(heading, 2);
    expect(await valuesOf('web', 'web')).toEqual(first);
    expect(await valuesOf('web', 'web-canary')).toEqual(second);
    await step(heading, 3);
    expect(await valuesOf('web', 'web')).toEqual(second);
    await step(heading, 4);
    expect(await valuesOf('web', 'web')).toEqual(first);
    expect(await valuesOf('web', 'web-canary')).toEqual(second);
  });
});

describe('«Tokens that rotate»', () => {
  test('tokens are replaced without a gap, and a leaked one ends at once', async () => {
    const heading = 'Tokens that rotate';
    const place = 'reports/production';
    await step(heading, 1);
    expect(await valuesOf('reports', 'reports')).toEqual({ DATABASE_URL: 'postgresql://reports.example' });
    const [held, ci] = [await valuesOf('reports', 'reader'), await valuesOf('reports', 'ci-keyframe')];
    // The SecretSync reads with the token that it names, and has none made for it.
    const tokens = await run('kubectl get servicetoken -n reports -o name');
    expect(tokens.match(/[^/\n]+$/gm)).toEqual(['ci', 'reader']);
    expect(await step(heading, 2)).toContain('DATABASE_URL');
    await step(heading, 3);
    expect(await answer(ci?.['token'], place)).toBe(401);
    expect(await answer((await valuesOf('reports', 'ci-keyframe'))?.['token'], place)).toBe(200);
    // A week later.
    const path = pathOf('reports', 'servicetokens', 'reader');
    const { metadata } = await stack.kube.json({ path });
    await ageToken(stack.databaseUrl, metadata.uid, 168 * 3600);
    await run('kubectl annotate servicetoken reader -n reports keyframe.dev/reconcile-at=now');
    await waitFor('the token to be rotated', async () => {
      const { status } = await stack.kube.json<ServiceToken>({ path });
      return status?.serial === 2 && status.previousSerial === 1;
    });
    expect(await answer(held?.['token'], place)).toBe(200);
    expect((await valuesOf('reports', 'reader'))?.['token']).not.toBe(held?.['token']);
    await run('keyframe set -o acme -p reports -e production DATABASE_URL=changed');
    await waitFor(
      'the Secret to follow',
      async () => (await valuesOf('reports', 'reports'))?.['DATABASE_URL'] === 'changed',
    );
  });
});

describe('«A Secret that is there already»', () => {
  test('a Secret is adopted once it allows it, and is never gone', async () => {
    const heading = 'A Secret that is there already';
    await step(heading, 1);
    expect(await valuesOf('billing', 'billing-secrets')).toEqual({ STRIPE_KEY: 'from-the-chart' });
    const { uid } = (await secretOf('billing', 'billing-secrets'))?.metadata ?? {};
    await step(heading, 2);
    expect(await valuesOf('billing', 'billing-secrets')).toEqual({ STRIPE_KEY: 'from-keyframe' });
    expect((await secretOf('billing', 'billing-secrets'))?.metadata).toMatchObject({
      uid,
      labels: { 'app.kubernetes.io/managed-by': 'Helm' },
      annotations: { 'helm.sh/resource-policy': 'keep' },
    });
  });
});

describe('«Keys in a Secret of somebody else»', () => {
  test('keys come into a Secret of a chart and go out again, and its own stay', async () => {
    const heading = 'Keys in a Secret of somebody else';
    const own = { ADMIN_PASSWORD: 'the-charts-own' };
    await step(heading, 1);
    const merged = { ...own, SMTP_HOST: 'smtp.example', SMTP_PASSWORD: 'of-keyframe' };
    expect(await valuesOf('mail', 'chart-secrets')).toEqual(merged);
    await step(heading, 2);
    expect(await valuesOf('mail', 'chart-secrets')).toEqual(own);
  });
});

describe('«A value made of others»', () => {
  test('nothing is composed while a part is missing, and the URL is there with it', async () => {
    const heading = 'A value made of others';
    await step(heading, 1);
    expect(await secretOf('tickets', 'tickets')).toBeUndefined();
    const { '.dockerconfigjson': credentials = '' } = (await valuesOf('tickets', 'registry')) ?? {};
    expect(JSON.parse(credentials)).toEqual({
      auths: { 'registry.example': { username: 'ci', password: 'say "friend"' } },
    });
    await step(heading, 2);
    const DATABASE_URL = 'postgresql://tickets:hunter2@db.tickets.svc:5432/tickets';
    expect(await valuesOf('tickets', 'tickets')).toEqual({ DB_USER: 'tickets', DB_PASSWORD: 'hunter2', DATABASE_URL });
  });
});

describe('«Pods that are restarted»', () => {
  // Instead of a kubelet, the test sets pods ready while the reader waits.
  test('pods are restarted when the Secret has changed, and Converged waits for them', async () => {
    const heading = 'Pods that are restarted';
    const workloads = new Workloads(stack.kube, 'storefront');
    for (const [number, THEME] of [
      [1, 'light'],
      [2, 'dark'],
    ] as const) {
      let isOver = false;
      const reading = step(heading, number).finally(() => (isOver = true));
      const runPods = async (): Promise<boolean> => {
        await workloads.runPods('web');
        return isOver;
      };
      await Promise.all([reading, waitFor('the commands to end', runPods, { timeoutMs: 80_000 })]);
      expect(await valuesOf('storefront', 'web')).toEqual({ THEME });
      const marks = await workloads.marks({ kind: 'Deployment', name: 'web' });
      expect(marks['rollout.keyframe.dev/web']).toMatch(new RegExp(`^${number}/`));
    }
  });
});

test('no command of the page is left that was not run', () => {
  expect(reader.untried).toEqual([]);
});
