import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { checkoutDirectory } from '../../tools/checkout.ts';
import { ensureBinaries } from '../../tools/devcluster/cluster/build.ts';
import type { Cluster } from '../../tools/devcluster/cluster/cluster.ts';
import { requestToken } from '../../tools/devcluster/cluster/controller-account.ts';
import { writeKubeconfigFor } from '../../tools/devcluster/cluster/kubeconfig.ts';
import { CommandReader, documentedCommands } from '../support/cli/documented-commands.ts';
import { fillNamespace, snapshotsIn } from '../support/cluster/filled-namespace.ts';
import { renderChart } from '../support/cluster/helm.ts';
import { runKubectl } from '../support/cluster/kubectl.ts';
import { startOwnCluster } from '../support/cluster/own-cluster.ts';
import type { ServerProcess } from '../support/api/server-process.ts';
import { Stack } from '../support/cluster/stack.ts';
import { TokenSite } from '../support/cluster/token-site.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

/** The end of a namespace in which the controller has its rights by the chart's Role: they go with it. */

const resources = new AsyncDisposableStack();
const both = { kinds: ['ServiceToken', 'SecretSnapshot'] };
const soon = { timeoutMs: 90_000 };
// Kubernetes deletes nothing in a namespace before.
const grace = { timeoutMs: 4000 };
const account = 'keyframe-controller';
let cluster: Cluster;
let stack: Stack;
let controller: ServerProcess;
let options: Parameters<Stack['startController']>[0];

beforeAll(async () => {
  cluster = await startOwnCluster(resources);
  stack = await Stack.start(resources, { namespaces: 5, adminKubeconfig: cluster.kubeconfig });
  const namespace = stack.takeNamespace();
  const watched = stack.namespaces.slice(1).join(',');
  await applyRights(namespace, watched);
  const kubeconfigFile = join(cluster.runFolder, 'chart.kubeconfig');
  const token = await requestToken(stack.kube, { namespace, name: account, seconds: 3600 });
  writeKubeconfigFor(kubeconfigFile, cluster.kubeconfig, { name: account, token });
  options = { kubeconfigFile, env: { WATCH_NAMESPACES: watched } };
  controller = await stack.startController(options);
});

afterAll(() => resources.disposeAsync());

/** The account and all the rights that the chart gives it with `watchNamespaces`. */
async function applyRights(namespace: string, watched: string): Promise<void> {
  const templates = ['rbac', 'service-accounts'].flatMap((name) => ['--show-only', `templates/${name}.yaml`]);
  const file = join(cluster.runFolder, 'rights.yaml');
  writeFileSync(file, await renderChart({ namespace, more: ['--set', `watchNamespaces={${watched}}`, ...templates] }));
  await runKubectl(cluster, ['apply', '--filename', file]);
}

test('is that of its tokens and its snapshot at once, and needs no admin after the rights are gone', async () => {
  const sites = [await TokenSite.make(stack, both), await TokenSite.make(stack, both)] as const;
  const [owned, other] = [await fillNamespace(stack, sites[0]), await fillNamespace(stack, sites[1])];
  expect([await owned.answers(), await owned.snapshots()]).toEqual([[200, 200], 1]);
  const [site] = sites;
  const gone = site.deleteNamespace(soon);
  gone.catch(() => undefined);
  await waitFor(
    'the resources to be let go before they are deleted',
    async () => {
      const snapshot = await snapshotsIn(stack, site).get('taken');
      for (const { metadata } of [await site.resource(), await site.resource('reader'), snapshot]) {
        expect(metadata).not.toHaveProperty('finalizers');
        expect(metadata).not.toHaveProperty('deletionTimestamp');
      }
      return true;
    },
    grace,
  );
  expect([await owned.answers(), await owned.snapshots()]).toEqual([[401, 401], 0]);
  await gone;
  expect([await other.answers(), await other.snapshots()]).toEqual([[200, 200], 1]);
  await sites[1].deleteNamespace(soon);
  expect([await other.answers(), await other.snapshots()]).toEqual([[401, 401], 0]);
  expect(controller.captured.output.toString()).not.toContain('until an admin runs');
});

test('that comes after the end of the rights ends the tokens and the snapshot too, and an admin lets it go', async () => {
  const site = await TokenSite.make(stack, both);
  const { answers, snapshots } = await fillNamespace(stack, site);
  const { namespace } = site;
  await runKubectl(cluster, ['delete', 'rolebinding', '--all', '--namespace', namespace]);
  await stack.kube.find({ method: 'DELETE', path: `/api/v1/namespaces/${namespace}` });
  await waitFor('the tokens and the snapshot to end', async () => {
    expect([await answers(), await snapshots()]).toEqual([[401, 401], 0]);
    return true;
  });
  const reported = (plural: string): RegExp =>
    new RegExp(`before the finalizers of its ${plural} were removed\\. .* until an admin runs`);
  await waitFor('the log to say what to do', () => {
    const log = controller.captured.output.toString();
    return reported('servicetokens').test(log) && reported('secretsnapshots').test(log);
  });
  await waitFor(
    'the namespace to wait for the finalizers',
    async () => {
      const { conditions = [] } = (await site.namespaceObject())?.status ?? {};
      return conditions.find(({ type }) => type === 'NamespaceFinalizersRemaining')?.status === 'True';
    },
    soon,
  );
  await runDocumented(namespace);
  const isGone = async (): Promise<boolean> => (await site.namespaceObject()) === undefined;
  await waitFor('the namespace to be gone', isGone, soon);
});

test('leaves a controller that starts afterwards to serve the namespaces that there are', async () => {
  await controller.stop();
  const site = await TokenSite.make(stack, both);
  controller = await stack.startController(options);
  const { answers, snapshots } = await fillNamespace(stack, site);
  expect([await answers(), await snapshots()]).toEqual([[200, 200], 1]);
});

/** The commands of docs/upgrade.md for a namespace that waits, as an admin runs them. */
async function runDocumented(namespace: string): Promise<void> {
  const page = readFileSync(join(checkoutDirectory, 'docs', 'upgrade.md'), 'utf8');
  const command = documentedCommands(page).find((found) => found.command.includes('"finalizers":null'));
  if (command === undefined) throw new Error('docs/upgrade.md does not say how to let a namespace go');
  const { kubectl } = await ensureBinaries(['kubectl'], { env: process.env, output: process.stderr });
  using reader = new CommandReader({
    PATH: `${dirname(kubectl)}:${process.env['PATH'] ?? ''}`,
    KUBECONFIG: cluster.kubeconfig,
    KUBECACHEDIR: join(cluster.runFolder, 'kubectl-cache'),
    NAMESPACE: namespace,
  });
  await reader.run(command);
}
