import type { KubeObject } from '../../tools/devcluster/cluster/kube-http.ts';
import type { ServiceToken } from '../../src/controller/generated/service-token.ts';
import type { ApiClient, ApiEnvironment } from '../support/api/api-client.ts';
import { adminClient } from '../support/cluster/cluster.ts';
import type { SecretObject } from '../support/cluster/secret-watch.ts';
import { type SyncObject, isReady } from './fleet.ts';
import { metricOf } from './reconciles.ts';
import { type SoakCrowd, passingSync, rotatedToken } from './soak-crowd.ts';
import type { Sampled } from './soak-samples.ts';

/** What is not as it must be once nothing happens any more: a sentence for each thing, which holds no value. */
export async function faultsAtTheEnd(crowd: SoakCrowd, client: ApiClient, sampled: Sampled): Promise<string[]> {
  return [...(await staleSecrets(crowd, client)), ...(await badTokens(crowd, client)), ...(await queues(sampled))];
}

/** By what the API and the API server say now, not by what a watch brought. */
async function staleSecrets(crowd: SoakCrowd, client: ApiClient): Promise<string[]> {
  const secrets = await listAll<SecretObject & KubeObject>(crowd, (name) => `/api/v1/namespaces/${name}/secrets`);
  const syncs = await listAll<SyncObject>(
    crowd,
    (name) => `/apis/keyframe.dev/v1alpha1/namespaces/${name}/secretsyncs`,
  );
  const wanted = new Map<ApiEnvironment, string>();
  const faults: string[] = [];
  for (const { namespace, name, environment } of crowd.followed()) {
    const key = `${namespace}/${name}`;
    const values = wanted.get(environment) ?? (await dataOf(environment, client));
    wanted.set(environment, values);
    const sync = syncs.get(key);
    if (sync === undefined || !isReady(sync)) faults.push(`the SecretSync ${key} is not Ready`);
    const secret = secrets.get(key);
    if (secret === undefined) faults.push(`the Secret ${key} is missing`);
    else if (textOf(secret.data ?? {}) !== values) faults.push(`the Secret ${key} differs from its environment`);
  }
  for (const namespace of crowd.withoutPassing())
    if (secrets.has(`${namespace}/${passingSync}`))
      faults.push(`the Secret ${namespace}/${passingSync} is still there`);
  return faults;
}

async function listAll<T extends KubeObject>(
  { fleet }: SoakCrowd,
  pathOf: (namespace: string) => string,
): Promise<ReadonlyMap<string, T>> {
  const lists = await Promise.all(
    fleet.namespaces.map((namespace) => adminClient().json<{ items: T[] }>({ path: pathOf(namespace) })),
  );
  const objects = lists.flatMap(({ items }) => items);
  return new Map(objects.map((object) => [`${object.metadata.namespace}/${object.metadata.name}`, object]));
}

/** The data that a Secret of an environment must have, as `textOf` writes it. */
async function dataOf({ path }: ApiEnvironment, client: ApiClient): Promise<string> {
  type Read = { readonly secrets: readonly { readonly key: string; readonly value: string }[] };
  const { secrets } = await client.call<Read>('GET', path);
  return textOf(Object.fromEntries(secrets.map(({ key, value }) => [key, Buffer.from(value).toString('base64')])));
}

function textOf(data: Readonly<Record<string, string>>): string {
  return JSON.stringify(Object.entries(data).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** ServiceTokens that were not rotated, and values that open nothing. */
async function badTokens(crowd: SoakCrowd, client: ApiClient): Promise<string[]> {
  const faults: string[] = [];
  for (const [namespace, environment] of crowd.environments) {
    const path = `/apis/keyframe.dev/v1alpha1/namespaces/${namespace}/servicetokens/${rotatedToken}`;
    const { status } = await adminClient().json<KubeObject & Pick<ServiceToken, 'status'>>({ path });
    if ((status?.serial ?? 0) < 2) faults.push(`the ServiceToken ${namespace}/${rotatedToken} was not rotated`);
    const secretPath = `/api/v1/namespaces/${namespace}/secrets/${rotatedToken}`;
    const secret = await adminClient().find<SecretObject & KubeObject>({ path: secretPath });
    const token = Buffer.from(secret?.data?.['token'] ?? '', 'base64').toString();
    if ((await client.as(token).send('GET', environment.path)).status !== 200)
      faults.push(`the token in the Secret ${namespace}/${rotatedToken} opens nothing`);
  }
  return faults;
}

async function queues({ controllers, api }: Sampled): Promise<string[]> {
  const faults: string[] = [];
  for (const { server } of [...controllers, api]) {
    const text = await server.metrics();
    const names = [
      'keyframe_audit_queue_length',
      ...(server === api.server ? [] : ['keyframe_controller_queue_length']),
    ];
    for (const name of names)
      if (metricOf(name, text) !== 0) faults.push(`${name} of ${server.captured.name} is ${metricOf(name, text)}`);
  }
  return faults;
}
