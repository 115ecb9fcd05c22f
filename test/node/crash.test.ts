import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { checkoutDirectory } from '../../tools/checkout.ts';
import { KubeHttp } from '../../tools/devcluster/cluster/kube-http.ts';
import { pauseImageTag } from '../../tools/devcluster/cluster/node/pause-image.ts';
import { runTool } from '../../tools/devcluster/cluster/run-tool.ts';
import { endAbandonedRuns } from '../../tools/devcluster/cluster/run-record.ts';
import { findProcess, type ProcessIdentity } from '../../tools/process-identity.ts';
import { CapturedProcess } from '../support/faults/captured-process.ts';
import { ClusterCache, countRunning, processesOf } from '../support/cluster/cluster-cache.ts';
import type { LaunchedCluster } from '../support/cluster/cluster-launcher.ts';
import { waitByKubectl } from '../support/cluster/kubectl.ts';
import { firstProcessOf } from '../support/node/node-image-names.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

const resources = new AsyncDisposableStack();

afterAll(() => resources.disposeAsync());

/** Starts a cluster with a node of its own, beside the one of this run, from a process that can be killed. */
async function launch(cache: ClusterCache): Promise<{ launcher: CapturedProcess; cluster: LaunchedCluster }> {
  const program = join(checkoutDirectory, 'test', 'support', 'cluster', 'cluster-launcher.ts');
  const args = [program, '--with-node'];
  const launcher = new CapturedProcess({ name: 'launcher', program: process.execPath, args, env: cache.env });
  resources.defer(async () => void (await launcher.end()));
  const line = await waitFor(
    'the launcher to report its cluster',
    () => {
      if (!launcher.isRunning) throw new Error(launcher.output.toString());
      return /^\{.*\}$/m.exec(launcher.output.toString())?.[0];
    },
    { timeoutMs: 90_000 },
  );
  return { launcher, cluster: JSON.parse(line) as LaunchedCluster };
}

async function runPod(cluster: LaunchedCluster): Promise<void> {
  const kube = new KubeHttp(cluster.kubeconfig);
  const containers = [{ name: 'main', image: pauseImageTag, imagePullPolicy: 'Never' }];
  const body = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'one' }, spec: { containers } };
  await kube.json({ method: 'POST', path: '/api/v1/namespaces/default/pods', body }).finally(() => kube.close());
  await waitByKubectl(cluster, { namespace: 'default', name: 'pod/one', condition: 'Ready' }, 60);
}

/** A process and all that it or what it started has started. Of a pod's, a shim of containerd is the parent. */
function treeOf(root: number): ProcessIdentity[] {
  const children = Map.groupBy(
    readdirSync('/proc').filter((name) => /^\d+$/.test(name)),
    (pid) => /^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1],
  );
  const below = (pid: string): string[] => [pid, ...(children.get(pid) ?? []).flatMap(below)];
  return below(String(root)).flatMap((pid) => findProcess(Number(pid)) ?? []);
}

/** The name of a program of this build without its hash. */
function programOf({ pid }: ProcessIdentity): string {
  return readlinkSync(`/proc/${pid}/exe`).replace(/^.*\/|-[0-9a-f]{16}$/g, '');
}

function controlGroups(name: string): string[] {
  const root = '/sys/fs/cgroup';
  return [root, ...readdirSync(root).map((entry) => join(root, entry))].filter((path) => existsSync(join(path, name)));
}

test('a node whose launcher was killed goes with all its pods at the next start, and leaves nothing on the machine', async () => {
  const cache = new ClusterCache();
  resources.defer(() => cache.remove());
  const { launcher, cluster } = await launch(cache);
  await runPod(cluster);
  const group = `keyframe-${cluster.runFolder.split('/').at(-1) ?? ''}`;
  const link = `keyframe${new URL(cluster.url).hostname.split('.')[1] ?? ''}`;
  const started = processesOf(cluster.runFolder);
  const init = firstProcessOf(cluster.runFolder);
  await launcher.end('SIGKILL');
  const onNode = treeOf(init.pid);
  const programs = onNode.map(programOf);
  // The pod's own, the one that holds its namespaces, and the node's.
  expect(programs.filter((program) => program === 'pause')).toHaveLength(3);
  expect(programs).toContain('containerd-shim-runc-v2');
  const control = started.filter(({ pid }) => pid !== init.pid).map(programOf);
  expect(control).toEqual(expect.arrayContaining(['etcd', 'kube-apiserver', 'kube-scheduler', 'nsenter']));
  expect(controlGroups(group)).not.toEqual([]);
  expect(await runTool('ip', ['link'])).toContain(link);
  expect(endAbandonedRuns(cache.folder, cache.env)).toBe(1);
  expect(countRunning([...started, ...onNode])).toBe(0);
  expect(controlGroups(group)).toEqual([]);
  expect(cache.runs).toEqual([]);
  // The kernel takes devices away a moment after the last process.
  await waitFor('the cable to go', async () => !(await runTool('ip', ['link'])).includes(link));
});
