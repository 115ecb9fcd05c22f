import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { Cluster } from '../../tools/devcluster/cluster/cluster.ts';
import type { KubeHttp, KubeObject } from '../../tools/devcluster/cluster/kube-http.ts';
import { runKubectl } from '../support/cluster/kubectl.ts';

const ofTheCluster = ['accessgrants', 'secretenvironments', 'clustersecretsyncs'];
const ofANamespace = ['servicetokens', 'secretsnapshots', 'secretsyncs', 'snapshotrestores', 'snapshotschedules'];

type Exported = KubeObject & {
  readonly metadata: { readonly ownerReferences?: readonly unknown[] };
  readonly spec: unknown;
};

/**
 * Our resources of a cluster, those with a namespace of this one, as YAML that a repository can hold: without uids, status and
 * finalizers, and without what belongs to another resource and is made by that.
 */
export async function exportResources(kube: KubeHttp, namespace: string): Promise<string> {
  const api = '/apis/keyframe.dev/v1alpha1';
  const paths = [
    ...ofTheCluster.map((plural) => `${api}/${plural}`),
    ...ofANamespace.map((plural) => `${api}/namespaces/${namespace}/${plural}`),
  ];
  const documents: string[] = [];
  for (const path of paths) {
    const { items } = await kube.json<{ items: Exported[] }>({ path });
    for (const { apiVersion, kind, metadata, spec } of items) {
      if (metadata.ownerReferences !== undefined) continue;
      const { name, namespace: place, labels, annotations } = metadata;
      documents.push(stringify({ apiVersion, kind, metadata: { name, namespace: place, labels, annotations }, spec }));
    }
  }
  return documents.join('---\n');
}

/** Applies such YAML with kubectl. */
export async function applyResources(
  cluster: Pick<Cluster, 'kubeconfig' | 'runFolder'>,
  exported: string,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'keyframe-repository-'));
  try {
    const file = join(folder, 'resources.yaml');
    await writeFile(file, exported);
    await runKubectl(cluster, ['apply', '-f', file]);
  } finally {
    await rm(folder, { recursive: true });
  }
}
