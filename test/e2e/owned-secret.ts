import type { KubeHttp } from '../../tools/devcluster/cluster/kube-http.ts';

/** Makes a SecretSync and, as its controller does, a Secret that goes with it; answers their paths. */
export async function makeOwned(kube: KubeHttp, namespace: string): Promise<string[]> {
  const syncs = `/apis/keyframe.dev/v1alpha1/namespaces/${namespace}/secretsyncs`;
  const environmentRef = { organization: 'acme', project: 'web', name: 'prod' };
  const sync = { apiVersion: 'keyframe.dev/v1alpha1', kind: 'SecretSync' };
  const body = { ...sync, metadata: { name: 'app' }, spec: { environmentRef, target: { deletionPolicy: 'Delete' } } };
  const { uid } = (await kube.json({ method: 'POST', path: syncs, body })).metadata;
  const metadata = { name: 'app', ownerReferences: [{ ...sync, name: 'app', uid }] };
  const secrets = `/api/v1/namespaces/${namespace}/secrets`;
  await kube.json({ method: 'POST', path: secrets, body: { apiVersion: 'v1', kind: 'Secret', metadata } });
  return [`${syncs}/app`, `${secrets}/app`];
}

/** Whether all of them are there, and none is being deleted. */
export async function areKept(kube: KubeHttp, paths: readonly string[]): Promise<boolean> {
  const found = await Promise.all(paths.map((path) => kube.find({ path })));
  return found.every((object) => object !== undefined && !('deletionTimestamp' in object.metadata));
}
