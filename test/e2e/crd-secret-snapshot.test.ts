/** @default The API server fills in the defaults of a SecretSnapshot, refuses what is wrong, and keeps its immutable fields. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createNamespace, discardNamespace } from '../support/cluster/cluster.ts';
import { ResourceTrial, expectRefused } from '../support/cluster/resource-trial.ts';

let namespace: string;
let trial: ResourceTrial;

beforeAll(async () => {
  namespace = await createNamespace();
  trial = new ResourceTrial({ kind: 'SecretSnapshot', plural: 'secretsnapshots', namespace });
});

afterAll(() => discardNamespace(namespace));

const environmentRef = { organization: 'acme', project: 'web', name: 'prod' };
const snapshotId = '0198a6f0-1234-7abc-8def-0123456789ab';
const taken = { source: { environmentRef } };
const adopted = { source: { snapshotId } };

test('a SecretSnapshot that says as little as it may gets every default', async () => {
  expect(await trial.accepted(taken)).toEqual({ ...taken, deletionPolicy: 'Retain', suspend: false });
  expect(await trial.accepted(adopted)).toEqual({ ...adopted, deletionPolicy: 'Retain', suspend: false });
});

test('SecretSnapshots are found by their short name and category', async () => {
  expect(await trial.appearance()).toEqual({
    shortNames: ['ksnap'],
    categories: ['keyframe'],
    namespaced: true,
  });
});

const either = 'give either environmentRef or snapshotId';
const keepsItsOwn = 'an adopted snapshot keeps its name and description, and is retained';
const slugRule =
  'must be a slug: 1 to 63 lower-case letters, digits and hyphens, beginning and ending with a letter or digit';

const refusals: readonly [what: string, spec: object, ...message: string[]][] = [
  ['no source', {}, 'spec.source: Required value'],
  ['an empty source', { source: {} }, either],
  ['two sources', { source: { environmentRef, snapshotId } }, either],
  ['an id that is no UUID', { source: { snapshotId: 'x'.repeat(36) } }, 'spec.source.snapshotId', 'must be the UUID'],
  ['half an environment', { source: { environmentRef: { organization: 'a' } } }, 'project: Required value'],
  [
    'an environment in capitals',
    { source: { environmentRef: { ...environmentRef, name: 'Prod' } } },
    'spec.source.environmentRef.name',
    slugRule,
  ],
  ['a name for an adopted one', { ...adopted, name: 'mine' }, keepsItsOwn],
  ['a description for an adopted one', { ...adopted, description: 'mine' }, keepsItsOwn],
  ['the deletion of an adopted one', { ...adopted, deletionPolicy: 'Delete' }, keepsItsOwn],
  ['an age without deletion', { ...taken, expiresIn: '24h' }, 'expiresIn needs deletionPolicy Delete'],
  ['an age too short', { ...taken, deletionPolicy: 'Delete', expiresIn: '59s' }, 'must be a duration of at least 1m'],
  ['an age in days', { ...taken, deletionPolicy: 'Delete', expiresIn: '7d' }, 'spec.expiresIn', 'must be a duration'],
  ['an empty name', { ...taken, name: '' }, 'spec.name', 'at least 1'],
  ['a description too long', { ...taken, description: 'x'.repeat(1001) }, 'spec.description', '1000'],
  ['another way to delete', { ...taken, deletionPolicy: 'Keep' }, 'supported values: "Retain", "Delete"'],
];

describe('a SecretSnapshot is refused with a sentence about', () => {
  test.each(refusals)('%s', async (_, wanted, ...message) => await trial.refused(wanted, ...message));
});

test('a SecretSnapshot may have a name, a description and an age', async () => {
  const wanted = { ...taken, name: 'before v2', description: 'CI run 7', deletionPolicy: 'Delete', expiresIn: '720h' };
  expect(await trial.accepted(wanted)).toMatchObject(wanted);
});

describe('a SecretSnapshot never changes', () => {
  const whole = { ...taken, name: 'a', deletionPolicy: 'Delete', expiresIn: '24h' };

  test.each([
    ['its environment', { source: { environmentRef: { name: 'other' } } }],
    ['the kind of its source', { source: { environmentRef: null, snapshotId } }],
    ['its name', { name: 'b' }],
    ['its name into none', { name: null }],
    ['its description', { description: 'new' }],
    ['its deletion', { deletionPolicy: 'Retain', expiresIn: null }],
    ['its age', { expiresIn: '48h' }],
  ])('in %s', async (_, change) => {
    const name = await trial.made({ ...whole, suspend: true });
    expectRefused(await trial.change(name, change), 'a SecretSnapshot is immutable, except suspend');
  });

  test('but it can be suspended', async () => {
    const name = await trial.made({ ...whole, suspend: true });
    expect(await trial.change(name, { suspend: false })).toMatchObject({ status: 200 });
  });
});
