/** @default The API server fills in the defaults of a ClusterSecretSync, refuses what is wrong, and keeps its immutable fields. */
import { describe, expect, test } from '@jest/globals';
import { ResourceTrial, expectRefused } from '../support/cluster/resource-trial.ts';

const trial = new ResourceTrial({ kind: 'ClusterSecretSync', plural: 'clustersecretsyncs' });

const environmentRef = { organization: 'acme', project: 'web', name: 'prod' };
const templateSpec = { environmentRef, tokenSecretRef: { name: 'shared-token' } };
const spec = { namespaces: ['team-a'], template: { spec: templateSpec } };

function withTemplate(part: object): object {
  return { ...spec, template: { spec: { ...templateSpec, ...part } } };
}

function withLabels(labels: object): object {
  return { ...spec, template: { labels, spec: templateSpec } };
}

test('a ClusterSecretSync that says as little as it may gets every default', async () => {
  expect(await trial.accepted(spec)).toEqual({
    namespaces: ['team-a'],
    excludeNamespaces: ['kube-*'],
    maxRemovedNamespaces: '50%',
    suspend: false,
    template: {
      spec: {
        environmentRef,
        tokenSecretRef: { name: 'shared-token' },
        maxDeletedKeys: '50%',
        suspend: false,
        target: { type: 'Opaque', creationPolicy: 'Create', deletionPolicy: 'Retain' },
      },
    },
  });
});

test('the spec of a SecretSync gets the same defaults in a template as by itself', async () => {
  const syncs = new ResourceTrial({ kind: 'SecretSync', plural: 'secretsyncs', namespace: 'default' });
  const rich = {
    sources: [{ name: 'shared', environmentRef, tokenRef: { name: 'token' } }],
    template: { data: { URL: 'x' } },
    rollout: { targets: [{ kind: 'Deployment', name: 'web' }] },
    target: { name: 'other', deletionPolicy: 'Delete', labels: { a: 'b' } },
  };
  const generated = (await trial.accepted({ ...spec, template: { spec: rich } })) as typeof spec;
  expect(generated.template.spec).toEqual(await syncs.accepted(rich));
});

test('ClusterSecretSyncs are found by their short name and category', async () => {
  expect(await trial.appearance()).toEqual({
    shortNames: ['kcsync'],
    categories: ['keyframe'],
    namespaced: false,
  });
});

const either = 'name the namespaces either by namespaces or by namespaceSelector';
const emptySelector = 'an empty selector selects every namespace: to select all, write namespaces ["*"]';
const share = 'must be a number of namespaces from 0 to 100000, or a share from 0% to 100%';
const labelName = 'must be names of labels';

const refusals: readonly [what: string, spec: object, ...message: string[]][] = [
  ['no template', { namespaces: ['a'] }, 'spec.template: Required value'],
  ['a template without a spec', { namespaces: ['a'], template: {} }, 'spec.template.spec: Required value'],
  ['no namespaces', { template: spec.template }, either],
  ['namespaces named in both ways', { ...spec, namespaceSelector: { matchLabels: { a: 'b' } } }, either],
  ['an empty list of namespaces', { ...spec, namespaces: [] }, 'spec.namespaces', 'at least 1'],
  ['an empty selector', { namespaceSelector: {}, template: spec.template }, emptySelector],
  ['every namespace excluded', { ...spec, excludeNamespaces: ['*'] }, 'a prefix of names followed by "*"'],
  ['a pattern with its star elsewhere', { ...spec, excludeNamespaces: ['a-*-b'] }, 'followed by "*"'],
  ['a share that is none', { ...spec, maxRemovedNamespaces: '101%' }, share],
  ['a number below none', { ...spec, maxRemovedNamespaces: -1 }, share],
  ['a label of the controller', withLabels({ 'keyframe.dev/cluster-sync': 'x' }), 'are reserved for the controller'],
  ['a label whose name is none', withLabels({ 'a b': 'x' }), labelName],
  ['a label whose name has two slashes', withLabels({ 'a/b/c': 'x' }), labelName],
  ['a label whose value is none', withLabels({ a: '-x' }), 'spec.template.labels', 'should match'],
  ['no environment', withTemplate({ environmentRef: null }), 'set spec.environmentRef for one environment'],
  ['a token named in two ways', withTemplate({ tokenRef: { name: 'a' } }), 'set spec.tokenRef or spec.tokenSecretRef'],
  [
    'a template that would write the Secret of its token',
    withTemplate({ target: { name: 'shared-token' } }),
    'set spec.template.spec.target.name to another name',
  ],
];

describe('a ClusterSecretSync is refused with a sentence about', () => {
  test.each(refusals)('%s', async (_, wanted, ...message) => await trial.refused(wanted, ...message));

  test('a name that is no value of a label', async () => {
    expectRefused(await trial.offer(spec, 'x'.repeat(64)), 'has at most 63 characters');
    expect(await trial.accepted(spec, 'x'.repeat(63))).toBeDefined();
  });
});

describe('a ClusterSecretSync may have', () => {
  test.each([
    ['all namespaces', { ...spec, namespaces: ['*'], excludeNamespaces: [] }],
    [
      'a selector by expressions',
      { template: spec.template, namespaceSelector: { matchExpressions: [{ key: 'team', operator: 'Exists' }] } },
    ],
    ['a number as the limit', { ...spec, maxRemovedNamespaces: 0 }],
    ['labels with a prefix and without a value', withLabels({ 'example.com/team': '', tier: 'web' })],
  ])('%s', async (_, wanted) => {
    expect(await trial.accepted(wanted)).toMatchObject(wanted);
  });
});

test('the name of the Secret and the creationPolicy never change, and everything else may', async () => {
  // No controller of the cluster finds such a namespace.
  const name = await trial.made({ ...spec, namespaces: ['not-there'], suspend: true });
  try {
    const template = (target: object): object => ({ template: { spec: { target } } });
    expectRefused(await trial.change(name, template({ name: 'other' })), 'spec.template.spec.target.name is immutable');
    expectRefused(
      await trial.change(name, template({ creationPolicy: 'Merge' })),
      'spec.template.spec.target.creationPolicy is immutable: create a new ClusterSecretSync',
    );
    const change = { namespaces: ['other'], template: { labels: { a: 'b' }, spec: { maxDeletedKeys: 3 } } };
    expect(await trial.change(name, change)).toMatchObject({ status: 200, body: { spec: change } });
  } finally {
    await trial.remove(name);
  }
});
