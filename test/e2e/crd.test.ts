/** @default The API server fills in the defaults of a SecretSync, refuses what is wrong, and keeps its immutable fields. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { KubeAnswer } from '../../tools/devcluster/cluster/kube-http.ts';
import type { SecretSync } from '../../src/controller/generated/secret-sync.ts';
import { adminClient, createNamespace, discardNamespace } from '../support/cluster/cluster.ts';

let namespace: string;
let made = 0;

beforeAll(async () => {
  namespace = await createNamespace();
});

afterAll(() => discardNamespace(namespace));

type Spec = Record<string, unknown>;

const spec: Spec = {
  environmentRef: { organization: 'acme', project: 'web', name: 'prod' },
  tokenSecretRef: { name: 'reader' },
};

const path = (): string => `/apis/keyframe.dev/v1alpha1/namespaces/${namespace}/secretsyncs`;

/** Sends a SecretSync of a name of its own, unless it is given one. */
async function create(wanted: Spec, name = `sync-${++made}`): Promise<KubeAnswer> {
  const body = { apiVersion: 'keyframe.dev/v1alpha1', kind: 'SecretSync', metadata: { name }, spec: wanted };
  return await adminClient().send({ method: 'POST', path: path(), body });
}

async function created(wanted: Spec, name?: string): Promise<SecretSync> {
  const answer = await create(wanted, name);
  expect(answer).toMatchObject({ status: 201 });
  return answer.body as SecretSync;
}

async function patch(name: string, change: object): Promise<KubeAnswer> {
  const contentType = 'application/merge-patch+json';
  return await adminClient().send({ method: 'PATCH', path: `${path()}/${name}`, body: change, contentType });
}

function expectRefused({ status, body }: KubeAnswer, ...parts: readonly string[]): void {
  expect(status).toBe(422);
  for (const part of parts) expect((body as { message: string }).message).toContain(part);
}

function withTarget(target: object): Spec {
  return { ...spec, target };
}

function withEnvironment(part: object): Spec {
  return { ...spec, environmentRef: { organization: 'acme', project: 'web', name: 'prod', ...part } };
}

describe('a SecretSync that says as little as it may', () => {
  test('gets every default', async () => {
    expect((await created(spec)).spec).toEqual({
      ...spec,
      target: { type: 'Opaque', creationPolicy: 'Create', deletionPolicy: 'Retain' },
      maxDeletedKeys: '50%',
      suspend: false,
    });
  });

  test('is found by its short name and its category, and shows its columns', async () => {
    const { body } = await adminClient().send({ path: '/apis/keyframe.dev/v1alpha1' });
    const resource = (body as { resources: { name: string }[] }).resources.find(({ name }) => name === 'secretsyncs');
    expect(resource).toMatchObject({ shortNames: ['ksync'], categories: ['keyframe'], namespaced: true });
    const accept = 'application/json;as=Table;g=meta.k8s.io;v=v1';
    const table = await adminClient().send({ path: path(), accept });
    const columns = (table.body as { columnDefinitions: { name: string; priority: number }[] }).columnDefinitions;
    expect(columns.map(({ name, priority }) => `${name} ${priority}`)).toEqual([
      'Name 0',
      'Ready 0',
      'Reason 0',
      'Secret 0',
      'Source 0',
      'Revision 0',
      'Keys 0',
      'Converged 0',
      'Synced 0',
      'Age 0',
      'Message 1',
    ]);
  });
});

const slugRule =
  'must be a slug: 1 to 63 lower-case letters, digits and hyphens, beginning and ending with a letter or digit';
const secretRule = 'must be the name of a Secret';
const reserved = 'under keyframe.dev, kubernetes.io, k8s.io and their subdomains are reserved: choose another prefix';

const refusals: readonly [what: string, spec: Spec, ...message: string[]][] = [
  [
    'no environment',
    { tokenSecretRef: { name: 'reader' } },
    'set spec.environmentRef for one environment, or spec.sources for several',
  ],
  ['two tokens', { ...spec, tokenRef: { name: 'reader' } }, 'set spec.tokenRef or spec.tokenSecretRef, not both'],
  [
    'two pins',
    { ...spec, snapshotRef: { name: 'good' }, revision: 1 },
    'set spec.snapshotRef or spec.revision, not both',
  ],
  ['a revision before the first', { ...spec, revision: 0 }, 'greater than or equal to 1'],
  [
    'a ServiceToken that none can be',
    { ...spec, tokenSecretRef: undefined, tokenRef: { name: 'A' } },
    'a ServiceToken',
  ],
  ['a snapshot that none can be', { ...spec, snapshotRef: { name: 'A' } }, 'must be the name of a SecretSnapshot'],
  ['a rollout of nothing', { ...spec, rollout: { targets: [] } }, 'spec.rollout.targets', 'at least 1 items'],
  [
    'a workload of another kind',
    { ...spec, rollout: { targets: [{ kind: 'Job', name: 'a' }] } },
    'supported values: "Deployment", "StatefulSet", "DaemonSet"',
  ],
  [
    'a rollout without patience',
    { ...spec, rollout: { targets: [{ kind: 'Deployment', name: 'a' }], timeout: '9s' } },
    'must be a duration from 10s to 24h',
  ],
  [
    'half an environment',
    { ...spec, environmentRef: { organization: 'acme' } },
    'spec.environmentRef.project: Required value',
  ],
  [
    'an organization in capitals',
    withEnvironment({ organization: 'Acme' }),
    'spec.environmentRef.organization',
    slugRule,
  ],
  ['a project with a hyphen at its end', withEnvironment({ project: 'web-' }), 'spec.environmentRef.project', slugRule],
  ['an environment with a slash', withEnvironment({ name: 'a/b' }), 'spec.environmentRef.name', slugRule],
  ['a slug of 64 letters', withEnvironment({ name: 'a'.repeat(64) }), 'spec.environmentRef.name', '63'],
  [
    'a token Secret that no Secret can be',
    { ...spec, tokenSecretRef: { name: 'Reader_' } },
    'spec.tokenSecretRef.name',
    secretRule,
  ],
  [
    'a key that no Secret can have',
    { ...spec, tokenSecretRef: { name: 'reader', key: 'a b' } },
    'must be a key of a Secret',
  ],
  ['a target that no Secret can be', withTarget({ name: 'a..b' }), 'spec.target.name', secretRule],
  [
    'the token Secret as its target',
    withTarget({ name: 'reader' }),
    'spec.target.name',
    'must not be the one that holds the token',
  ],
  [
    'a type that grants access to the cluster',
    withTarget({ type: 'kubernetes.io/service-account-token' }),
    'Kubernetes itself writes the token of a ServiceAccount',
  ],
  [
    'a type with which nodes join',
    withTarget({ type: 'bootstrap.kubernetes.io/token' }),
    'lets nodes join the cluster',
  ],
  ['a type that is no name', withTarget({ type: 'a b' }), 'must be a type of Secret'],
  ['a type that is too long', withTarget({ type: 'a'.repeat(318) }), 'may not be more than 317'],
  ['another way to create', withTarget({ creationPolicy: 'Replace' }), 'supported values: "Create", "Merge"'],
  ['another way to delete', withTarget({ deletionPolicy: 'Orphan' }), 'supported values: "Retain", "Delete"'],
  ['a label of Keyframe', withTarget({ labels: { 'keyframe.dev/target': 'false' } }), `labels ${reserved}`],
  ['a label of a subdomain', withTarget({ labels: { 'app.kubernetes.io/name': 'x' } }), `labels ${reserved}`],
  [
    'an annotation of Keyframe',
    withTarget({ annotations: { 'keyframe.dev/owned-by': 'x' } }),
    `annotations ${reserved}`,
  ],
  ["an annotation of Kubernetes' own", withTarget({ annotations: { 'k8s.io/x': 'x' } }), `annotations ${reserved}`],
  ['a label that is none', withTarget({ labels: { 'a b': 'x' } }), 'a label is named [prefix/]name'],
  ['a label with two slashes', withTarget({ labels: { 'a/b/c': 'x' } }), 'a label is named [prefix/]name'],
  ['a value that no label can have', withTarget({ labels: { a: 'x y' } }), 'spec.target.labels.a'],
  [
    'too many labels',
    withTarget({ labels: Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`l${n}`, ''])) }),
    '32',
  ],
  ['an annotation too long', withTarget({ annotations: { a: 'x'.repeat(4097) } }), 'Too long'],
];

describe('a SecretSync is refused with a sentence about', () => {
  test.each(refusals)('%s', async (_, wanted, ...message) => expectRefused(await create(wanted), ...message));

  test('the token Secret of its own name, as its target is by default', async () => {
    expectRefused(await create(spec, 'reader'), 'must not be the one that holds the token');
  });

  test('a field that does not exist, where the client asks for that', async () => {
    const body = {
      apiVersion: 'keyframe.dev/v1alpha1',
      kind: 'SecretSync',
      metadata: { name: 'x' },
      spec: { ...spec, colour: 'red' },
    };
    const answer = await adminClient().send({ method: 'POST', path: `${path()}?fieldValidation=Strict`, body });
    expect(answer.status).toBe(400);
    expect((answer.body as { message: string }).message).toContain('unknown field "spec.colour"');
  });
});

describe('what a SecretSync may have', () => {
  test.each([
    [
      'labels and annotations of other prefixes',
      withTarget({ labels: { 'example.com/a': 'x', 'notk8s.io/b': '' }, annotations: { c: 'any text: ä' } }),
    ],
    [
      'every label it can have',
      withTarget({
        labels: Object.fromEntries(
          Array.from({ length: 32 }, (_, n) => [`l${n}.example.com/${'n'.repeat(63)}`, 'v'.repeat(63)]),
        ),
      }),
    ],
    ['a Secret with dots in its name', withTarget({ name: 'a.b-c.d' })],
    [
      'no token, and the longest name of a Secret',
      { environmentRef: spec['environmentRef'], target: { name: 'x'.repeat(253) } },
    ],
    ['slugs of one and of 63 characters', withEnvironment({ organization: 'a', project: 'b'.repeat(63) })],
  ])('is %s', async (_, wanted) => {
    expect(await created(wanted)).toMatchObject({ spec: wanted });
  });
});

describe('the name of the target', () => {
  const changed = 'spec.target.name is immutable: create a new SecretSync for another Secret';

  test('never changes, given or not', async () => {
    const given = await created(withTarget({ name: 'first' }));
    expectRefused(await patch(given.metadata.name, { spec: { target: { name: 'second' } } }), changed);
    expectRefused(await patch(given.metadata.name, { spec: { target: { name: null } } }), changed);
    const absent = await created(spec);
    expectRefused(await patch(absent.metadata.name, { spec: { target: { name: 'another' } } }), changed);
  });

  test('may be written down where it was its default, and everything else may change', async () => {
    const { metadata } = await created(spec);
    const target = { name: metadata.name, type: 'example.com/mine', deletionPolicy: 'Delete', labels: { a: 'b' } };
    const change = {
      spec: { target, suspend: true, environmentRef: { name: 'staging' }, tokenSecretRef: { name: 'other' } },
    };
    expect(await patch(metadata.name, change)).toMatchObject({ status: 200 });
    expect(await patch(metadata.name, { spec: { target: null } })).toMatchObject({ status: 200 });
  });
});

describe('the status', () => {
  test('is written only through its own subresource, and raises no generation', async () => {
    const { metadata } = await created(spec);
    const status = { secretCount: 1, conditions: [] };
    await patch(metadata.name, { status });
    expect(await adminClient().json({ path: `${path()}/${metadata.name}` })).not.toHaveProperty('status');
    const patched = await patch(`${metadata.name}/status`, { status });
    expect(patched.body).toMatchObject({ status, metadata: { generation: 1 } });
  });

  test('is patched only at the version that was judged', async () => {
    const { metadata } = await created(spec);
    const status = { secretCount: 1 };
    const stale = await patch(`${metadata.name}/status`, { metadata: { resourceVersion: '1' }, status });
    expect(stale).toMatchObject({ status: 409 });
    const { resourceVersion } = metadata;
    expect(await patch(`${metadata.name}/status`, { metadata: { resourceVersion }, status })).toMatchObject({
      status: 200,
    });
  });
});
