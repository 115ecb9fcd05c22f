/** @default What kustomize makes of our definitions and of docs/gitops.md is what the page says. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import type { KubeObject } from '../../tools/devcluster/cluster/kube-http.ts';
import { adminClient, createNamespace, discardNamespace } from '../support/cluster/cluster.ts';
import type { DefinitionSchema } from '../support/cluster/definition-changes.ts';
import { DryRun } from '../support/cluster/dry-run.ts';
import { objectsOf, renderChart } from '../support/cluster/helm.ts';
import { runKustomize } from '../support/cluster/kustomize.ts';
import { definitionsFolder } from '../support/cluster/own-cluster.ts';
import { readDefinitions } from '../support/cluster/released.ts';
import { fencedBlocks, readPage } from '../support/fixtures/documentation.ts';

const folder = mkdtempSync(join(tmpdir(), 'keyframe-kustomize-'));
const definitions = readDefinitions(definitionsFolder);

/** A file that docs/gitops.md shows, by the comment in its first line. */
function shown(name: string): string {
  const block = fencedBlocks(readPage('docs/gitops.md'), 'yaml').find(({ text }) => text.startsWith(`# ${name}\n`));
  if (block === undefined) throw new Error(`docs/gitops.md does not show ${name}`);
  return block.text;
}

beforeAll(() => {
  for (const name of ['keyframe-names.yaml', 'kustomization.yaml']) writeFileSync(join(folder, name), shown(name));
});

afterAll(() => rmSync(folder, { recursive: true }));

interface NameReference {
  readonly kind: string;
  readonly fieldSpecs: readonly { readonly path: string }[];
}

/** The fields of this file that name an object of one of these kinds. */
function pathsFor(...kinds: readonly string[]): string[] {
  const { nameReference } = parse(shown('keyframe-names.yaml')) as { nameReference: readonly NameReference[] };
  return nameReference
    .filter(({ kind }) => kinds.includes(kind))
    .flatMap(({ fieldSpecs }) => fieldSpecs.map(({ path }) => path));
}

/** The fields `name` of a spec that are below a field with this name, such as `spec/sources/tokenRef/name`. */
function fieldsNamed(field: string, schema: DefinitionSchema, path = 'spec'): string[] {
  const inner = [...Object.entries(schema.properties ?? {}), ...Object.entries(schema.items?.properties ?? {})];
  return inner.flatMap(([name, below]) => {
    const place = `${path}/${name}`;
    return name === field ? [`${place}/name`] : fieldsNamed(field, below, place);
  });
}

describe('keyframe-names.yaml of docs/gitops.md', () => {
  const specs = definitions.map(({ spec }) => spec.versions[0]?.schema.openAPIV3Schema.properties?.['spec'] ?? {});
  const secretPaths = pathsFor('SecretSync').filter((path) => path.includes('template/'));

  test.each([
    ['tokenRef', ['ServiceToken']],
    ['tokenSecretRef', ['ServiceToken']],
    ['tokenSecretRef', ['Secret']],
    ['snapshotRef', ['SecretSnapshot']],
    ['targets', ['Deployment', 'StatefulSet', 'DaemonSet']],
  ])('has each field %s, which names a %j', (field, kinds) => {
    const found = specs.flatMap((schema) => fieldsNamed(field, schema));
    expect(found.length).toBeGreaterThan(1);
    for (const kind of kinds) expect(pathsFor(kind)).toEqual(expect.arrayContaining(found));
  });

  test('has the same fields of pods for each kind that writes a Secret', () => {
    for (const kind of ['ClusterSecretSync', 'ServiceToken'])
      expect(pathsFor(kind)).toEqual(expect.arrayContaining(pathsFor('SecretSync')));
  });

  test('has the fields of a CronJob as well', () => {
    const ofPods = secretPaths.filter((path) => path.startsWith('spec/template/'));
    expect(ofPods.length).toBeGreaterThan(6);
    const ofJobs = ofPods.map((path) => path.replace('spec/', 'spec/jobTemplate/spec/'));
    expect(secretPaths).toEqual(expect.arrayContaining(ofJobs));
  });
});

const environmentRef = { organization: 'acme', project: 'web', name: 'production' };

function ours(kind: string, name: string, spec: object): object {
  return { apiVersion: 'keyframe.dev/v1alpha1', kind, metadata: { name }, spec };
}

/** A pod that reads these Secrets in each way that a pod can. */
function pod(names: readonly string[]): object {
  const container = {
    image: 'registry.example.com/app',
    envFrom: names.map((name) => ({ secretRef: { name } })),
    env: names.map((name) => ({ name: name.toUpperCase(), valueFrom: { secretKeyRef: { name, key: 'token' } } })),
  };
  return {
    restartPolicy: 'Never',
    imagePullSecrets: names.map((name) => ({ name })),
    initContainers: [{ name: 'prepare', ...container }],
    containers: [{ name: 'serve', ...container }],
    volumes: [
      ...names.map((secretName) => ({ name: `of-${secretName}`, secret: { secretName } })),
      { name: 'all', projected: { sources: names.map((name) => ({ secret: { name } })) } },
    ],
  };
}

const secrets = ['web', 'ci', 'tracing'];
const kept = ['fixed', 'fixed-token'];

const app: readonly object[] = [
  ours('AccessGrant', 'team', {
    namespaces: ['*'],
    rules: [{ organization: 'acme', project: 'web', environments: ['*'] }],
  }),
  ours('SecretSync', 'web', {
    environmentRef,
    tokenRef: { name: 'ci' },
    snapshotRef: { name: 'before' },
    rollout: { targets: [{ kind: 'Deployment', name: 'app' }] },
  }),
  ours('SecretSync', 'several', {
    sources: [
      { name: 'one', environmentRef, tokenSecretRef: { name: 'ci' }, snapshotRef: { name: 'before' } },
      { name: 'two', environmentRef, tokenRef: { name: 'ci' } },
    ],
  }),
  ours('SecretSync', 'elsewhere', { environmentRef, target: { name: 'fixed' } }),
  ours('ClusterSecretSync', 'tracing', {
    namespaces: ['*'],
    template: { spec: { environmentRef, tokenRef: { name: 'ci' } } },
  }),
  ours('ServiceToken', 'ci', { scope: 'Environment', environmentRef }),
  ours('ServiceToken', 'other', { scope: 'Environment', environmentRef, secretName: 'fixed-token' }),
  ours('SecretSnapshot', 'before', { source: { environmentRef } }),
  ours('SnapshotRestore', 'back', { snapshotRef: { name: 'before' } }),
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'app' },
    spec: {
      selector: { matchLabels: { app: 'app' } },
      template: {
        metadata: { labels: { app: 'app' } },
        spec: { ...pod([...secrets, ...kept]), restartPolicy: 'Always' },
      },
    },
  },
  {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name: 'nightly' },
    spec: { schedule: '0 0 * * *', jobTemplate: { spec: { template: { spec: pod(secrets) } } } },
  },
];

/** The names that objects have or use, other than those of environments, containers and variables. */
function namesIn(value: unknown, field = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((each) => namesIn(each, field));
  if (typeof value !== 'object' || value === null) return [];
  const named = /^(metadata|targets|imagePullSecrets|secret|target|\w+Ref)$/.test(field) && field !== 'environmentRef';
  return Object.entries(value).flatMap(([key, inner]) => {
    const isName = key === 'secretName' || (key === 'name' && named);
    return isName ? [String(inner)] : namesIn(inner, key);
  });
}

describe('an overlay with a prefix, a suffix and a namespace', () => {
  let namespace: string;
  let objects: readonly KubeObject[];

  beforeAll(async () => {
    namespace = await createNamespace();
    writeFileSync(join(folder, 'app.yaml'), app.map((object) => JSON.stringify(object)).join('\n---\n'));
    const more = `nameSuffix: -v1\nnamespace: ${namespace}\n`;
    writeFileSync(join(folder, 'kustomization.yaml'), shown('kustomization.yaml') + more);
    objects = await runKustomize(folder);
  });

  afterAll(async () => await discardNamespace(namespace));

  test('renames an object at each place that names it', () => {
    const renamed = [
      'web',
      'several',
      'elsewhere',
      'tracing',
      'ci',
      'other',
      'before',
      'back',
      'app',
      'nightly',
      'team',
    ];
    const wanted = [...renamed.map((name) => `blue-${name}-v1`), ...kept];
    expect([...new Set(objects.flatMap((object) => namesIn(object)))].toSorted()).toEqual(wanted.toSorted());
  });

  test('is accepted by the API server', async () => {
    const dryRun = new DryRun(adminClient(), namespace);
    expect(objects).toHaveLength(app.length);
    const refusals: string[] = [];
    for (const object of objects) {
      const refusal = await dryRun.refusal(object);
      if (refusal !== undefined) refusals.push(`${object.kind ?? ''}: ${refusal}`);
    }
    expect(refusals).toEqual([]);
  });
});

describe('the definitions', () => {
  const unpruned = {
    'argocd.argoproj.io/sync-options': 'Prune=false',
    'kustomize.toolkit.fluxcd.io/prune': 'disabled',
  };
  const protections = (objects: readonly KubeObject[]): readonly (readonly [string, unknown])[] =>
    objects
      .filter(({ kind }) => kind === 'CustomResourceDefinition')
      .map(({ metadata }) => [metadata.name, metadata.annotations] as const);
  const names = definitions.map(({ metadata }) => metadata.name);

  test('of crds/ are all in its Kustomization, and GitOps tools do not prune them', async () => {
    const found = protections(await runKustomize(definitionsFolder));
    expect(new Map(found)).toEqual(new Map(names.map((name) => [name, unpruned])));
  });

  test('of the chart are not pruned by GitOps tools, and stay when the release goes', async () => {
    const found = protections(objectsOf(await renderChart({ namespace: 'keyframe' })));
    const wanted = { ...unpruned, 'helm.sh/resource-policy': 'keep' };
    expect(new Map(found)).toEqual(new Map(names.map((name) => [name, wanted])));
  });
});
