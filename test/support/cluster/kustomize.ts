import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ensureBinaries } from '../../../tools/devcluster/cluster/build.ts';
import type { KubeObject } from '../../../tools/devcluster/cluster/kube-http.ts';
import { objectsOf } from './helm.ts';

/** What `kubectl kustomize` makes of a folder. */
export async function runKustomize(folder: string): Promise<KubeObject[]> {
  const { kubectl } = await ensureBinaries(['kubectl'], { env: process.env, output: process.stderr });
  const env = { HOME: '/nonexistent', KUBECONFIG: '/nonexistent' };
  return objectsOf((await promisify(execFile)(kubectl, ['kustomize', folder], { env, maxBuffer: 2 ** 24 })).stdout);
}
