/** @default What a list, a watch and a conditional write show on a real API server. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { KubeAnswer } from '../../tools/devcluster/cluster/kube-http.ts';
import { KubeClient } from '../../src/kube/client/client.ts';
import type { KubeObject } from '../../src/kube/client/objects.ts';
import { Reflector, type ReflectorLimits, type ReflectorSource } from '../../src/kube/informer/reflector.ts';
import { SecretsClient } from '../../src/kube/client/secrets.ts';
import type { FailureKind } from '../../src/kube/informer/watch-failure.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createLogger } from '../../src/observability/logger.ts';
import {
  adminClient,
  controllerKubeconfig,
  createNamespace,
  discardNamespace,
  sharedCluster,
} from '../support/cluster/cluster.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

const canary = 'bm90LXRvLWJlLXNlZW4='; // «not-to-be-seen» in base64
const selected = { 'keyframe.dev/target': 'true' };

let namespace: string;
let client: KubeClient;
let secrets: SecretsClient;
let reported: string[];
let failures: FailureKind[];
const reflectors: Reflector<KubeObject>[] = [];

beforeAll(() => {
  client = KubeClient.load({ kubeconfigFile: controllerKubeconfig(), clock: systemClock });
  secrets = new SecretsClient({ client });
});

afterAll(() => client.close());

beforeEach(async () => {
  namespace = await createNamespace();
  reported = [];
  failures = [];
});

afterEach(async () => {
  await Promise.all(reflectors.splice(0).map((reflector) => reflector.stop()));
  await discardNamespace(namespace);
});

interface StartOptions extends Partial<ReflectorLimits> {
  readonly client?: KubeClient;
}

function start(source: Partial<ReflectorSource> = {}, options: StartOptions = {}): Reflector<KubeObject> {
  const { client: other, ...limits } = options;
  const reflector = new Reflector<KubeObject>({
    client: other ?? client,
    clock: systemClock,
    logger: createLogger('silent'),
    source: { path: `/api/v1/namespaces/${namespace}/secrets`, metadataOnly: true, ...source },
    handler: {
      onUpsert: ({ metadata }) => void reported.push(`+${metadata.name}`),
      onDelete: ({ metadata }) => void reported.push(`-${metadata.name}`),
    },
    limits,
    onFailure: (kind) => void failures.push(kind),
  });
  reflectors.push(reflector);
  reflector.start();
  return reflector;
}

async function make(name: string, labels: Record<string, string> = selected): Promise<KubeObject['metadata']> {
  const metadata = { name, labels, annotations: {} };
  return await secrets.create(namespace, { metadata, type: 'Opaque', data: { key: canary } });
}

async function label(name: string, labels: Record<string, string | null>): Promise<KubeAnswer> {
  const path = `/api/v1/namespaces/${namespace}/secrets/${name}`;
  const contentType = 'application/merge-patch+json';
  return await adminClient().send({ method: 'PATCH', path, body: { metadata: { labels } }, contentType });
}

async function expectHeard(...expected: string[]): Promise<void> {
  await waitFor(`the handler to get ${expected.join(' ')}`, () => reported.length >= expected.length);
  expect(reported).toEqual(expected);
}

describe('a metadata-only watch with a label', () => {
  const source = { labelSelector: 'keyframe.dev/target=true' };

  test('holds what exists, page by page, and no value of it', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) await make(name);
    await make('unlabelled', {});
    const reflector = start(source, { pageSize: 2 });
    await reflector.synced;
    expect(reported.toSorted()).toEqual(['+a', '+b', '+c', '+d', '+e']);
    const held = [...reflector.keys()].map((key) => reflector.get(key));
    expect(JSON.stringify(held)).not.toContain(canary);
    for (const object of held) expect(object?.metadata).not.toHaveProperty('managedFields');
  });

  test('reports what is created, changed, unlabelled, labelled again and deleted', async () => {
    const reflector = start(source);
    await reflector.synced;
    const made = await make('a');
    await expectHeard('+a');
    expect(reflector.get(`${namespace}/a`)?.metadata).toMatchObject({
      uid: made.uid,
      resourceVersion: made.resourceVersion,
    });
    await label('a', { mine: 'yes' });
    await label('a', { 'keyframe.dev/target': null });
    await label('a', selected);
    await expectHeard('+a', '+a', '-a', '+a');
    const { uid, resourceVersion } = reflector.get(`${namespace}/a`)?.metadata ?? made;
    await secrets.delete({ namespace, name: 'a' }, { uid, resourceVersion });
    await expectHeard('+a', '+a', '-a', '+a', '-a');
    expect(failures).toEqual([]);
  });

  test('goes on over many short watches without a new list and without losing or repeating anything', async () => {
    const reflector = start(source, { watchSeconds: 1 });
    await reflector.synced;
    const names = Array.from({ length: 12 }, (_, number) => `s${number}`);
    for (const name of names) {
      await make(name);
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    await expectHeard(...names.map((name) => `+${name}`));
    expect(failures).toEqual([]);
  });
});

describe('a watch by name', () => {
  test('shows that one object alone, from before it is made until after it is gone', async () => {
    const reflector = start({ fieldSelector: 'metadata.name=token' });
    await reflector.synced;
    await make('other', {});
    const first = await make('token', {});
    await expectHeard('+token');
    await secrets.delete({ namespace, name: 'token' }, first);
    const second = await make('token', {});
    await expectHeard('+token', '-token', '+token');
    expect(reflector.get(`${namespace}/token`)?.metadata.uid).toBe(second.uid);
  });
});

test('a resource that the cluster does not know is reported as missing', async () => {
  // With all rights: to others the API server says that they may not look.
  const admin = KubeClient.load({ kubeconfigFile: sharedCluster().kubeconfig, clock: systemClock });
  const reflector = start({ path: '/apis/keyframe.dev/v1alpha1/nothings' }, { client: admin });
  await waitFor('the failure', () => failures[0]);
  expect(failures[0]).toBe('missing');
  expect(reflector.error).toMatchObject({ status: 404 });
  await reflector.stop();
  await admin.close();
});

describe('what the API server demands of writes', () => {
  test('a Secret is replaced and deleted only at the uid and version that was seen', async () => {
    const made = await make('a');
    const content = { metadata: { name: 'a' }, type: 'Opaque', data: { key: 'eA==' } };
    const replaced = await secrets.replace(namespace, content, made);
    await expect(secrets.replace(namespace, content, made)).rejects.toMatchObject({ status: 409 });
    const { uid, resourceVersion } = replaced;
    await expect(
      secrets.replace(namespace, content, { uid: made.namespace ?? '', resourceVersion }),
    ).rejects.toMatchObject({ status: 409 });
    await expect(secrets.delete({ namespace, name: 'a' }, made)).rejects.toMatchObject({ status: 409 });
    await secrets.delete({ namespace, name: 'a' }, { uid, resourceVersion });
    await expect(secrets.replace(namespace, content, { uid, resourceVersion })).rejects.toMatchObject({ status: 404 });
  });

  test('no value comes back from a write', async () => {
    const metadata = await make('a');
    expect(metadata).toMatchObject({ name: 'a', uid: expect.any(String), resourceVersion: expect.any(String) });
    expect(JSON.stringify(metadata)).not.toContain(canary);
  });

  test('a dry run shows what would be refused, and not that the name is taken', async () => {
    await make('a');
    const content = { metadata: { name: 'a' }, type: 'kubernetes.io/tls', data: {} };
    await expect(secrets.check(namespace, content)).rejects.toMatchObject({ status: 422 });
    await secrets.check(namespace, { ...content, data: { 'tls.crt': '', 'tls.key': '' } });
    expect(await secrets.find({ namespace, name: 'a' })).toMatchObject({ type: 'Opaque' });
  });
});
