import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseAllDocuments } from 'yaml';
import { checkoutDirectory } from '../checkout.ts';
import { apply } from '../devcluster/cluster/apply.ts';
import type { KubeHttp, KubeObject } from '../devcluster/cluster/kube-http.ts';

const example = join(checkoutDirectory, 'examples', 'quickstart.yaml');
const api = '/apis/keyframe.dev/v1alpha1';
const syncPath = (namespace: string): string => `${api}/namespaces/${namespace}/secretsyncs/quickstart`;
const secretsPath = (namespace: string): string => `/api/v1/namespaces/${namespace}/secrets`;

const limitMs = 60_000;

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

interface Sync extends KubeObject {
  readonly status?: { readonly conditions?: readonly Condition[] };
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec: object;
}

export interface QuickstartOptions {
  readonly namespace?: string;
  /** Whether the cluster is a remote one, in which no environment is made; default false. */
  readonly isRemote?: boolean;
}

/** Applies examples/quickstart.yaml: an AccessGrant, a SecretEnvironment and a SecretSync, for a namespace. */
export async function applyQuickstart(kube: KubeHttp, options: QuickstartOptions = {}): Promise<void> {
  const { namespace = 'default', isRemote = false } = options;
  for (const document of parseAllDocuments(readFileSync(example, 'utf8'))) {
    const manifest = document.toJS() as Manifest;
    const { kind, metadata, spec } = manifest;
    if (isRemote && kind === 'SecretEnvironment') continue;
    const plural = `${kind.toLowerCase()}s`;
    if (metadata.namespace !== undefined) {
      const body = { ...manifest, metadata: { ...metadata, namespace } };
      await apply(kube, `${api}/namespaces/${namespace}/${plural}/${metadata.name}`, body);
    } else {
      const body = { ...manifest, spec: 'namespaces' in spec ? { ...spec, namespaces: [namespace] } : spec };
      await apply(kube, `${api}/${plural}/${metadata.name}`, body);
    }
  }
}

/**
 * Waits until the SecretSync is ready and answers the keys of the native Secret, never its values. Throws with the
 * resource's own message if it is not ready within the limit.
 */
export async function awaitSecret(kube: KubeHttp, namespace = 'default'): Promise<string[]> {
  const deadline = Date.now() + limitMs;
  let message = 'The controller has not looked at it yet.';
  while (Date.now() < deadline) {
    const sync = await kube.json<Sync>({ path: syncPath(namespace) });
    const ready = sync.status?.conditions?.find(({ type }) => type === 'Ready');
    if (ready?.status === 'True') {
      const secret = await kube.json<KubeObject & { data?: object }>({ path: `${secretsPath(namespace)}/quickstart` });
      return Object.keys(secret.data ?? {}).sort();
    }
    if (ready !== undefined) message = `${ready.reason}: ${ready.message}`;
    await sleep(50);
  }
  throw new Error(`The SecretSync ${namespace}/quickstart is not ready. ${message}`);
}
