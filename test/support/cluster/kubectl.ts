import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ensureBinaries } from '../../../tools/devcluster/cluster/build.ts';
import type { Cluster } from '../../../tools/devcluster/cluster/cluster.ts';

/** Runs kubectl against a cluster and answers what it printed; what it caches goes with the cluster. Throws where it fails. */
export async function runKubectl(
  { kubeconfig, runFolder }: Pick<Cluster, 'kubeconfig' | 'runFolder'>,
  args: readonly string[],
): Promise<string> {
  const { kubectl } = await ensureBinaries(['kubectl'], { env: process.env, output: process.stderr });
  const env = { KUBECONFIG: kubeconfig, KUBECACHEDIR: join(runFolder, 'kubectl-cache') };
  const { stdout } = await promisify(execFile)(kubectl, [...args], { env });
  return stdout;
}

/** `kubectl wait` for a condition of a resource named `kind/name`; answers what it printed, or throws after `timeoutS` seconds. */
export async function waitByKubectl(
  cluster: Pick<Cluster, 'kubeconfig' | 'runFolder'>,
  { namespace, name, condition }: { readonly namespace: string; readonly name: string; readonly condition: string },
  timeoutS = 30,
): Promise<string> {
  return await runKubectl(cluster, [
    'wait',
    `--for=condition=${condition}`,
    `--timeout=${timeoutS}s`,
    '-n',
    namespace,
    name,
  ]);
}
