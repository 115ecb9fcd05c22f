/** @default The API server judges the sources of a SecretSync, one by one and together. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createNamespace, discardNamespace } from '../support/cluster/cluster.ts';
import { ResourceTrial, expectRefused } from '../support/cluster/resource-trial.ts';

let namespace: string;
let trial: ResourceTrial;

beforeAll(async () => {
  namespace = await createNamespace();
  trial = new ResourceTrial({ kind: 'SecretSync', plural: 'secretsyncs', namespace });
});

afterAll(() => discardNamespace(namespace));

const environmentRef = { organization: 'acme', project: 'web', name: 'prod' };
const tokenSecretRef = { name: 'reader' };
const shared = { name: 'shared', environmentRef };
const named = (name: string): object => ({ sources: [{ ...shared, name }] });
const withShared = (more: object): object => ({ sources: [{ ...shared, ...more }] });

test('a SecretSync of sources gets defaults beside its list of sources, and none within it', async () => {
  const sources = [shared, { name: 'own', environmentRef, tokenSecretRef }];
  expect(await trial.accepted({ sources })).toEqual({
    sources,
    target: { type: 'Opaque', creationPolicy: 'Create', deletionPolicy: 'Retain' },
    maxDeletedKeys: '50%',
    suspend: false,
  });
});

test('eight sources with all that each may have are accepted', async () => {
  const glob = (n: number): string => `${n}`.padEnd(253, 'x');
  const globs = Array.from({ length: 240 }, (_, n) => glob(n));
  const keys = { include: ['*', ...globs], exclude: ['*?', ...globs], decodeBase64: globs };
  const sources = Array.from({ length: 8 }, (_, n) => ({
    ...shared,
    name: `source-${n}`.padEnd(20, 'x'),
    tokenRef: { name: 'x'.repeat(253) },
    snapshotRef: { name: 'y'.repeat(253) },
    keys: { ...keys, rename: Array.from({ length: 128 }, (_unused, key) => ({ from: glob(key), to: glob(key) })) },
  }));
  expect(await trial.accepted({ sources }, 'z'.repeat(253))).toMatchObject({ sources });
});

const each = 'with spec.sources each source has its own: set';
const oneOf = 'set spec.environmentRef for one environment, or spec.sources for several, and not both';
const sourceName = 'must be a name of 1 to 20 lower-case letters, digits and hyphens';

const refusals: readonly [what: string, spec: object, ...message: string[]][] = [
  ['an environment and sources', { environmentRef, sources: [shared] }, 'spec.environmentRef', oneOf],
  ['neither', { tokenSecretRef }, 'spec.environmentRef', 'or spec.sources for several'],
  ['a token for all sources', { sources: [shared], tokenRef: { name: 'ci' } }, 'spec.tokenRef', `${each} tokenRef`],
  [
    'a token Secret for all sources',
    { sources: [shared], tokenSecretRef },
    'spec.tokenSecretRef',
    `${each} tokenSecretRef`,
  ],
  [
    'a snapshot for all sources',
    { sources: [shared], snapshotRef: { name: 'good' } },
    'spec.snapshotRef',
    `${each} snapshotRef`,
  ],
  ['a revision for all sources', { sources: [shared], revision: 7 }, 'spec.revision', `${each} revision`],
  ['rules for the keys of all sources', { sources: [shared], keys: {} }, 'spec.keys', `${each} keys`],
  ['no source', { sources: [] }, 'spec.sources', 'at least 1 items'],
  [
    'nine sources',
    { sources: Array.from({ length: 9 }, (_, n) => ({ ...shared, name: `s${n}` })) },
    'spec.sources: Too many: 9: must have at most 8 items',
  ],
  ['two sources of one name', { sources: [shared, shared] }, 'spec.sources[1]: Duplicate value'],
  ['a source without a name', { sources: [{ environmentRef }] }, 'spec.sources[0].name: Required value'],
  [
    'a source without an environment',
    { sources: [{ name: 'shared' }] },
    'spec.sources[0].environmentRef: Required value',
  ],
  ['a source in capitals', named('Shared'), 'spec.sources[0].name', sourceName],
  ['a source with a hyphen at its end', named('shared-'), 'spec.sources[0].name', sourceName],
  ['a source of 21 letters', named('x'.repeat(21)), 'spec.sources[0].name', '20'],
  [
    'two tokens of one source',
    withShared({ tokenSecretRef, tokenRef: { name: 'ci' } }),
    'spec.sources[0].tokenRef',
    'set tokenRef or tokenSecretRef, not both',
  ],
  [
    'two pins of one source',
    withShared({ revision: 7, snapshotRef: { name: 'good' } }),
    'spec.sources[0].snapshotRef',
    'set snapshotRef or revision, not both',
  ],
  [
    'a slug that is none',
    withShared({ environmentRef: { ...environmentRef, name: 'A' } }),
    'spec.sources[0].environmentRef.name',
    'must be a slug',
  ],
  [
    'seventeen patterns of one source',
    withShared({ keys: { include: Array.from({ length: 17 }, (_, n) => `${n}*`) } }),
    'spec.sources[0].keys.include',
    'at most 16 of these',
  ],
  [
    'the token Secret of a source as the target',
    { ...withShared({ tokenSecretRef }), target: { name: 'reader' } },
    'spec.target.name',
    'must not be one that holds the token of a source',
  ],
];

describe('a SecretSync of sources is refused with a sentence about', () => {
  test.each(refusals)('%s', async (_, spec, ...message) => {
    expect(message).not.toEqual([]);
    await trial.refused(spec, ...message);
  });
});

test.each(['1', 'token', 'my-token', 'a-b-c'])('a source may be called %s', async (name) => {
  expect(await trial.accepted(named(name))).toMatchObject(named(name));
});

test('a SecretSync goes from one environment to sources and back', async () => {
  const name = await trial.made({ environmentRef, tokenSecretRef });
  expect(await trial.change(name, { sources: [shared], environmentRef: null, tokenSecretRef: null })).toMatchObject({
    status: 200,
  });
  expectRefused(await trial.change(name, { sources: [shared], environmentRef: null }), `${each} tokenSecretRef`);
});
