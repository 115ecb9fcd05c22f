import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'yaml';
import { checkoutDirectory } from '../checkout.ts';
import { apply } from '../cluster/apply.ts';
import type { KubeHttp, KubeObject } from '../cluster/kube-http.ts';

const example = join(checkoutDirectory, 'examples', 'quickstart.yaml');
const syncPath = (namespace: string): string =>
  `/apis/keyframe.dev/v1alpha1/namespaces/${namespace}/secretsyncs/quickstart`;
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

/** Stores the service token in the Secret `quickstart-token` and applies examples/quickstart.yaml. */
export async function applyQuickstart(kube: KubeHttp, token: string, namespace = 'default'): Promise<void> {
  await apply(kube, `${secretsPath(namespace)}/quickstart-token`, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'quickstart-token', namespace },
    stringData: { token },
  });
  const sync = parse(readFileSync(example, 'utf8')) as { metadata: object };
  await apply(kube, syncPath(namespace), { ...sync, metadata: { ...sync.metadata, namespace } });
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
