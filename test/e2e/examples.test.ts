import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { checkoutDirectory } from '../../scripts/checkout.ts';
import { ensureBinaries } from '../../scripts/cluster/build.ts';
import { requestToken } from '../../scripts/cluster/controller-account.ts';
import { writeKubeconfigFor } from '../../scripts/cluster/kubeconfig.ts';
import type { Cluster } from '../../scripts/cluster/cluster.ts';
import type { ServiceToken } from '../../src/controller/generated/service-token.ts';
import type { Resource } from '../../src/controller/resource.ts';
import { CliRunner } from '../support/cli.ts';
import { buildPatienceMs } from '../support/cluster-cache.ts';
import { documentedCommands } from '../support/documented-commands.ts';
import { exampleFiles, exampleSections, examplesFolder, printedLines } from '../support/example-page.ts';
import { npmStandIn } from '../support/npm-stand-in.ts';
import { startOwnCluster } from '../support/own-cluster.ts';
import { ageToken } from '../support/resource-rows.ts';
import { readyOf } from '../support/resource-site.ts';
import { type SecretObject, secretValues } from '../support/secret-watch.ts';
import { ServerProcess } from '../support/server-process.ts';
import { Stack } from '../support/stack.ts';
import { waitFor } from '../support/wait-for.ts';
import { Workloads } from '../support/workloads.ts';

jest.setTimeout(90_000);

const sections = exampleSections();
const before = sections.get('Before') ?? [];
const resources = new AsyncDisposableStack();
let stack: Stack;
let cluster: Cluster;
let kubectl: string;
let cli: CliRunner;

beforeAll(async () => {
  cluster = await startOwnCluster(resources);
  ({ kubectl } = await ensureBinaries(['kubectl'], { env: process.env, output: process.stderr }));
  stack = await Stack.start(resources, { namespaces: 1, adminKubeconfig: cluster.kubeconfig });
  // The examples name their namespaces, so this one watches all of them, as the account of a whole installation.
  await ServerProcess.start(resources, {
    role: 'controller',
    env: {
      DATABASE_URL: stack.databaseUrl,
      ROOT_KEY: `test:${stack.rootKey}`,
      KUBECONFIG_FILE: join(cluster.runFolder, 'controller.kubeconfig'),
      NAMESPACE: 'keyframe-system',
      ROLLOUTS: 'true',
    },
  });
  cli = await CliRunner.create();
  resources.defer(() => cli.remove());
  cpSync(examplesFolder, join(cli.folder, 'examples'), { recursive: true });
  mkdirSync(join(cli.folder, '.dev'));
  writeFileSync(join(cli.folder, '.dev', 'admin-token'), stack.adminToken, { mode: 0o600 });
  for (const { command } of before) await run(command);
}, 60_000 + buildPatienceMs);

afterAll(() => resources.disposeAsync());

interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs commands as a reader would who has taken over the functions of the page; `kubeconfig` is the administrator's unless told. */
async function attempt(command: string, kubeconfig = cluster.kubeconfig): Promise<Run> {
  const script = [npmStandIn, before[0]?.command, 'set -eu', command].join('\n');
  const env = {
    KUBECTL: kubectl,
    ADMIN_KUBECONFIG: kubeconfig,
    KUBECACHEDIR: join(cluster.runFolder, 'kubectl-cache'),
  };
  return await cli.bash(script.replaceAll('http://127.0.0.1:8700', stack.api.url), { env, limitMs: 60_000 });
}

/** The same for what must succeed; answers what it printed. */
async function run(command: string): Promise<string> {
  const { code, stdout, stderr } = await attempt(command);
  if (code !== 0) throw new Error(`${command}\nended with ${code}: ${stderr}\n${stdout}`);
  return stdout;
}

/** Runs the nth command block of a section, counted from 1; what the page shows of its output must be there, line by line. */
async function step(heading: string, number: number): Promise<string> {
  const documented = sections.get(heading)?.[number - 1];
  if (documented === undefined) throw new Error(`examples/README.md has no step ${number} under «${heading}».`);
  const printed = await run(documented.command);
  const shown = printedLines(documented.answer?.text ?? '');
  expect(printedLines(printed)).toEqual(expect.arrayContaining(shown));
  return printed;
}

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

type Proof = (heading: string) => Promise<void>;

/** Heading of a section → what its example promises. */
const proofs: Readonly<Record<string, Proof>> = {
  'Several teams': provesTenants,
  'A snapshot before each deploy': provesSnapshots,
  'A canary beside a pinned production': provesCanary,
  'Tokens that rotate': provesRotation,
  'A Secret that is there already': provesAdoption,
  'Keys in a Secret of somebody else': provesMerge,
  'Pods that are restarted': provesRollout,
};

describe('examples/README.md', () => {
  test('shows every file of the examples in a command, and every section with commands is proved here', () => {
    const ours = [...sections.values()].flat().map(({ command }) => command);
    const readme = documentedCommands(readFileSync(join(checkoutDirectory, 'README.md'), 'utf8'));
    const shown = [...ours, ...readme.map(({ command }) => command)].join('\n');
    const files = exampleFiles();
    expect(files).toContain('examples/quickstart.yaml');
    expect(files.filter((file) => !shown.includes(file))).toEqual([]);
    expect([...sections.keys()].sort()).toEqual(['Before', ...Object.keys(proofs)].sort());
  });
});

describe('the example of', () => {
  test.each(Object.keys(proofs))('«%s» does what it says', async (heading) => {
    await proofs[heading]?.(heading);
  });
});

async function provesTenants(heading: string): Promise<void> {
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
}

const deployedImage = async (): Promise<string> =>
  await run(`kubectl get deployment web -n shop -o jsonpath='{.spec.template.spec.containers[0].image}'`);

async function provesSnapshots(heading: string): Promise<void> {
  await step(heading, 1);
  expect(await deployedImage()).toMatch(/:4f2c9d1$/);
  const good = { API_URL: 'https://api.example', TIMEOUT: '5s' };
  expect(await valuesOf('shop', 'web')).toEqual(good);
  await step(heading, 2);
  expect(await valuesOf('shop', 'web')).toEqual(good);
  await step(heading, 3);
  expect(await valuesOf('shop', 'web')).toEqual(good);
  await provesAccountOfJob();
}

/** The job's account can run the script and nothing else; without a snapshot the script deploys nothing. */
async function provesAccountOfJob(): Promise<void> {
  const kubeconfig = join(cli.folder, 'ci.kubeconfig');
  const token = await requestToken(stack.kube, { namespace: 'shop', name: 'ci', seconds: 3600 });
  writeKubeconfigFor(kubeconfig, cluster.kubeconfig, { name: 'ci', token });
  const done = await attempt('examples/ci-snapshot/deploy.sh aaaaaaa', kubeconfig);
  expect(done).toMatchObject({ code: 0, stdout: expect.stringMatching(/^before-aaaaaaa-\w{5}\n$/) });
  expect(await deployedImage()).toMatch(/:aaaaaaa$/);
  const read = await attempt('kubectl get secret web -n shop', kubeconfig);
  expect(read).toMatchObject({ code: 1, stderr: expect.stringContaining('Forbidden') });
  await run('kubectl delete accessgrant shop');
  const refused = await attempt('SNAPSHOT_TIMEOUT=1s examples/ci-snapshot/deploy.sh bbbbbbb', kubeconfig);
  expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('timed out') });
  expect(await deployedImage()).toMatch(/:aaaaaaa$/);
}

async function provesCanary(heading: string): Promise<void> {
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
}

async function provesRotation(heading: string): Promise<void> {
  const place = 'reports/production';
  await step(heading, 1);
  expect(await valuesOf('reports', 'reports')).toEqual({ DATABASE_URL: 'postgresql://reports.example' });
  const [reader, ci] = [await valuesOf('reports', 'reader'), await valuesOf('reports', 'ci-keyframe')];
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
  expect(await answer(reader?.['token'], place)).toBe(200);
  expect((await valuesOf('reports', 'reader'))?.['token']).not.toBe(reader?.['token']);
  await run('keyframe set -o acme -p reports -e production DATABASE_URL=changed');
  await waitFor(
    'the Secret to follow',
    async () => (await valuesOf('reports', 'reports'))?.['DATABASE_URL'] === 'changed',
  );
}

async function provesAdoption(heading: string): Promise<void> {
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
}

async function provesMerge(heading: string): Promise<void> {
  const own = { ADMIN_PASSWORD: 'the-charts-own' };
  await step(heading, 1);
  const merged = { ...own, SMTP_HOST: 'smtp.example', SMTP_PASSWORD: 'of-keyframe' };
  expect(await valuesOf('mail', 'chart-secrets')).toEqual(merged);
  await step(heading, 2);
  expect(await valuesOf('mail', 'chart-secrets')).toEqual(own);
}

/** Instead of a kubelet, pods are set ready while the reader waits. */
async function provesRollout(heading: string): Promise<void> {
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
}
