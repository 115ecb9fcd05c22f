/** @default The accounts of the chart have exactly the committed rights. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { checkoutDirectory } from '../../tools/checkout.ts';
import type { Cluster } from '../../tools/devcluster/cluster/cluster.ts';
import { KubeHttp } from '../../tools/devcluster/cluster/kube-http.ts';
import { ChartHook } from '../support/cluster/chart-hook.ts';
import { renderChart } from '../support/cluster/helm.ts';
import { runKubectl } from '../support/cluster/kubectl.ts';
import { definitionsFolder, startOwnCluster } from '../support/cluster/own-cluster.ts';
import { readDefinitions } from '../support/cluster/released.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

/** The rights that the chart gives, as a real API server reports them: exactly the committed ones. */

const resources = new AsyncDisposableStack();
const folder = join(checkoutDirectory, 'test', 'e2e', 'chart-rights');
const nothing = '\n';
let cluster: Cluster;
let admin: KubeHttp;

beforeAll(async () => {
  cluster = await startOwnCluster(resources);
  admin = new KubeHttp(cluster.kubeconfig);
  resources.defer(() => admin.close());
  for (const name of ['team-a', 'team-b', 'team-c', 'watching', 'watching-rollouts', 'watching-some', 'release']) {
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    await admin.json({ method: 'POST', path: '/api/v1/namespaces', body });
  }
});

afterAll(() => resources.disposeAsync());

async function apply(manifests: string): Promise<void> {
  const file = join(cluster.runFolder, 'manifests.yaml');
  writeFileSync(file, manifests);
  await runKubectl(cluster, ['apply', '--server-side', '--force-conflicts', '--filename', file]);
}

/**
 * What `kubectl auth can-i --list` reports about an account `namespace:name`, sorted, without what Kubernetes gives to every
 * account, which depends on its version.
 */
async function rights(account: string, place: string): Promise<string> {
  const common = new Set(await rightLines('kube-public:without-a-binding', place));
  return `${(await rightLines(account, place)).filter((line) => !common.has(line)).join('\n')}\n`;
}

async function rightLines(account: string, place: string): Promise<string[]> {
  const as = `--as=system:serviceaccount:${account}`;
  const table = await runKubectl(cluster, ['auth', 'can-i', '--list', as, '--namespace', place]);
  const lines = table.trimEnd().split('\n').slice(1);
  return lines.map((line) => line.replace(/\s{2,}/g, ' | ').trim()).sort();
}

function committed(name: string): string {
  return readFileSync(join(folder, `${name}.txt`), 'utf8');
}

describe('the rights of the controller', () => {
  const rbacAlone = ['--show-only', 'templates/rbac.yaml', '--show-only', 'templates/service-accounts.yaml'];

  test('in a list of namespaces, are the committed ones there, and nothing more anywhere else', async () => {
    await apply(await renderChart({ namespace: 'watching', values: 'watch-namespaces.yaml', more: rbacAlone }));
    const account = 'watching:keyframe-controller';
    expect(await rights(account, 'team-a')).toBe(committed('watched-namespace'));
    expect(await rights(account, 'team-b')).toBe(committed('watched-namespace'));
    expect(await rights(account, 'team-c')).toBe(committed('unwatched-namespace'));
    expect(await rights(account, 'watching')).toBe(committed('own-namespace-unwatched'));
    // Where Events about what belongs to no namespace are recorded.
    expect(await rights(account, 'default')).toBe(committed('default-namespace-unwatched'));
  });

  test('with restarts, include patching workloads, in the watched namespaces alone', async () => {
    const values = 'watch-namespaces-rollouts.yaml';
    await apply(await renderChart({ namespace: 'watching-rollouts', values, more: rbacAlone }));
    const account = 'watching-rollouts:keyframe-controller';
    expect(await rights(account, 'team-a')).toBe(committed('watched-namespace-rollouts'));
    expect(await rights(account, 'team-b')).toBe(committed('unwatched-namespace'));
  });

  test('with restarts in some namespaces, include patching workloads in these alone', async () => {
    await apply(await renderChart({ namespace: 'watching-some', values: 'no-init.yaml', more: rbacAlone }));
    const account = 'watching-some:keyframe-controller';
    expect(await rights(account, 'team-a')).toBe(committed('cluster-wide-rollouts'));
    expect(await rights(account, 'team-b')).toBe(committed('cluster-wide'));
  });

  test('cluster-wide, are the committed ones everywhere, and the Lease in its own namespace', async () => {
    const more = [...rbacAlone, '--set', 'serviceAccount.name=keyframe-controller'];
    await apply(await renderChart({ namespace: 'team-c', values: 'defaults.yaml', more }));
    const account = 'team-c:keyframe-controller';
    expect(await rights(account, 'team-a')).toBe(committed('cluster-wide'));
    expect(await rights(account, 'team-c')).toBe(committed('cluster-wide-own-namespace'));
  });
});

describe('the rights of the hooks, each under an account of its own', () => {
  async function makeHook(template: string, namespace: string, values: string): Promise<void> {
    await ChartHook.make(resources, { cluster, kube: admin, template, rendering: { namespace, values } });
  }

  test('init: to create Secrets in the release’s namespace, and to read its own', async () => {
    await makeHook('init.yaml', 'release', 'defaults.yaml');
    expect(await rights('release:keyframe-init', 'release')).toBe(committed('hook-init'));
    expect(await rights('release:keyframe-init', 'team-a')).toBe(nothing);
  });

  test('init, where a Secret is said to exist: nothing on that one', async () => {
    await makeHook('init.yaml', 'team-c', 'production.yaml');
    expect(await rights('team-c:keyframe-init', 'team-c')).toBe(committed('hook-init-existing-secrets'));
  });

  test('pre-delete: to list and patch the kinds with finalizers, and the Lease in its own namespace', async () => {
    await makeHook('pre-delete.yaml', 'release', 'defaults.yaml');
    expect(await rights('release:keyframe-pre-delete', 'team-a')).toBe(committed('hook-pre-delete'));
    expect(await rights('release:keyframe-pre-delete', 'release')).toBe(committed('hook-pre-delete-own-namespace'));
  });

  test('pre-delete, with a list of namespaces: in these alone', async () => {
    await makeHook('pre-delete.yaml', 'watching', 'watch-namespaces.yaml');
    expect(await rights('watching:keyframe-pre-delete', 'team-a')).toBe(committed('hook-pre-delete'));
    expect(await rights('watching:keyframe-pre-delete', 'team-c')).toBe(committed('hook-pre-delete-unwatched'));
  });

  test('the smoke test: one SecretSync and two Secrets, in a namespace that the controller serves', async () => {
    await makeHook('tests/smoke-test.yaml', 'watching', 'watch-namespaces.yaml');
    expect(await rights('watching:keyframe-smoke-test', 'team-a')).toBe(committed('hook-smoke-test'));
    expect(await rights('watching:keyframe-smoke-test', 'watching')).toBe(nothing);
  });
});

interface Definition {
  readonly spec: { readonly scope: string; readonly names: { readonly plural: string } };
}

test('of each kind in a namespace it is decided: view reads all, edit writes all but SnapshotRestores, admin plans those', async () => {
  await apply(await renderChart({ namespace: 'release', more: ['--show-only', 'templates/aggregated-roles.yaml'] }));
  const kinds = (readDefinitions(definitionsFolder) as unknown as Definition[])
    .filter(({ spec }) => spec.scope === 'Namespaced')
    .map(({ spec }) => spec.names.plural);
  expect(kinds.length).toBeGreaterThan(2);
  const allowed = async (role: string): Promise<string[]> => {
    const { rules } = await admin.json<{ rules: { apiGroups?: string[]; resources?: string[]; verbs: string[] }[] }>({
      path: `/apis/rbac.authorization.k8s.io/v1/clusterroles/${role}`,
    });
    const ours = rules.filter(({ apiGroups }) => apiGroups?.includes('keyframe.dev'));
    const each = ours.flatMap(({ resources: named = [], verbs }) =>
      named.flatMap((kind) => verbs.map((verb) => `${verb} ${kind}`)),
    );
    return each.sort();
  };
  const all = (verbs: readonly string[], of: readonly string[]): string[] =>
    of.flatMap((kind) => verbs.map((verb) => `${verb} ${kind}`));
  const reading = all(['get', 'list', 'watch'], kinds);
  const edited = kinds.filter((kind) => kind !== 'snapshotrestores');
  const writing = all(['create', 'delete', 'deletecollection', 'patch', 'update'], edited);
  // An admin of a namespace may plan restores too; approving them is a verb that no built-in role gets.
  const planning = all(['create', 'delete', 'deletecollection', 'patch', 'update'], ['snapshotrestores']);
  const everything = [...reading, ...writing, ...planning].sort();
  await waitFor('the roles to be put together', async () => (await allowed('admin')).length >= everything.length);
  expect(await allowed('view')).toEqual(reading.sort());
  expect(await allowed('edit')).toEqual([...reading, ...writing].sort());
  expect(await allowed('admin')).toEqual(everything);
});
