/** @default The API server fills in the defaults of a SnapshotRestore, refuses what is wrong, and keeps its immutable fields. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createNamespace, discardNamespace } from '../support/cluster/cluster.ts';
import { ResourceTrial, expectRefused } from '../support/cluster/resource-trial.ts';

let namespace: string;
let trial: ResourceTrial;

beforeAll(async () => {
  namespace = await createNamespace();
  trial = new ResourceTrial({ kind: 'SnapshotRestore', plural: 'snapshotrestores', namespace });
});

afterAll(() => discardNamespace(namespace));

const snapshotId = '0198a6f0-1234-7abc-8def-0123456789ab';
const planHash = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLM_-01';
const byName = { snapshotRef: { name: 'before-deploy' } };
const byUid = { snapshotRef: { name: 'before-deploy', uid: snapshotId } };
const environmentRef = { organization: 'acme', project: 'web', name: 'prod' };
const unplanned = { environmentRef, mode: 'Apply', allowUnplanned: true };
const byId = { snapshotId };
const defaults = {
  mode: 'Plan',
  allowUnplanned: false,
  prune: false,
  backup: true,
  skipUnchanged: true,
  includeDeleted: false,
  suspend: false,
};

test('a SnapshotRestore that says as little as it may plans, with a backup, and deletes nothing', async () => {
  expect(await trial.accepted(byName)).toEqual({ ...byName, ...defaults });
  expect(await trial.accepted(byId)).toEqual({ ...byId, ...defaults });
});

test('SnapshotRestores are found by their short name and category', async () => {
  expect(await trial.appearance()).toEqual({
    shortNames: ['krestore'],
    categories: ['keyframe'],
    namespaced: true,
  });
});

const either = 'give either snapshotRef or snapshotId';
const needsEnvironment = 'allowUnplanned needs environmentRef: the environment that is restored';
const needsIdentity = 'allowUnplanned needs snapshotId, or snapshotRef.uid: metadata.uid of the SecretSnapshot';
const needsBackup = 'allowUnplanned needs a backup: leave backup true';
const needsApproval = 'keys and includeDeleted require an approved plan: set planHash, and not allowUnplanned';
const needsPlan = 'mode Apply needs planHash, from status.planHash; or allowUnplanned: true';

const refusals: readonly [what: string, spec: object, ...message: string[]][] = [
  ['no snapshot', {}, either],
  ['two snapshots', { ...byName, ...byId }, either],
  ['a SecretSnapshot without a name', { snapshotRef: {} }, 'spec.snapshotRef.name: Required value'],
  ['a name that none can have', { snapshotRef: { name: 'A' } }, 'must be the name of a SecretSnapshot'],
  ['an id that is no UUID', { snapshotId: 'x'.repeat(36) }, 'spec.snapshotId', 'must be the UUID'],
  ['another mode', { ...byId, mode: 'Undo' }, 'supported values: "Plan", "Apply"'],
  ['Apply without a plan', { ...byId, mode: 'Apply' }, needsPlan],
  ['no environment to restore without a plan', { ...byId, ...unplanned, environmentRef: null }, needsEnvironment],
  ['only a name to restore from without a plan', { ...byName, ...unplanned }, needsIdentity],
  ['no backup of a restore without a plan', { ...byId, ...unplanned, backup: false }, needsBackup],
  ['no plan, no environment and no uid, to be approved later', { ...byName, allowUnplanned: true }, needsEnvironment],
  [
    'a uid that none can be',
    { snapshotRef: { name: 'a', uid: 'x'.repeat(36) } },
    'spec.snapshotRef.uid',
    'must be the metadata.uid of the SecretSnapshot',
  ],
  ['an environment without a name', { ...byId, environmentRef: { organization: 'a', project: 'b' } }, 'name: Required'],
  [
    'a plan that is not to be carried out',
    { ...byId, planHash },
    'planHash approves a plan, so it requires mode Apply',
  ],
  ['deleted keys without a plan', { ...byId, ...unplanned, includeDeleted: true }, needsApproval],
  ['some keys without a plan', { ...byId, ...unplanned, keys: { include: ['A'] } }, needsApproval],
  ['a glob that none can be', { ...byId, keys: { include: ['A B'] } }, 'must be a glob of keys'],
  ['a long glob with a question mark', { ...byId, keys: { exclude: [`?${'A'.repeat(32)}`] } }, 'at most 32 characters'],
  [
    'too many globs',
    { ...byId, keys: { include: Array.from({ length: 17 }, (_, index) => `A${index}*`) } },
    'at most 16 of these may have',
  ],
  [
    'a hash that none can be',
    { ...byId, mode: 'Apply', planHash: 'x'.repeat(42) },
    'spec.planHash',
    'must be the status.planHash',
  ],
];

describe('a SnapshotRestore is refused with a sentence about', () => {
  test.each(refusals)('%s', async (_, wanted, ...message) => await trial.refused(wanted, ...message));
});

test('a SnapshotRestore may be made to be carried out at once, with a plan or expressly without', async () => {
  for (const wanted of [
    { ...byId, mode: 'Apply', planHash },
    { ...byId, ...unplanned },
    { ...byUid, ...unplanned, prune: true, skipUnchanged: true },
    { ...byName, environmentRef, backup: false },
    { ...byId, includeDeleted: true, keys: { include: ['DB_*'], exclude: ['DB_TEST'] } },
    { ...byId, mode: 'Apply', planHash, keys: {} },
  ]) {
    expect(await trial.accepted(wanted)).toMatchObject(wanted);
  }
});

describe('a SnapshotRestore never changes', () => {
  test.each([
    ['its snapshot', { snapshotId: snapshotId.replace('0', 'f') }],
    ['the kind of its source', { snapshotId: null, ...byName }],
    ['what it deletes', { prune: true }],
    ['its backup', { backup: false }],
    ['what it leaves alone', { skipUnchanged: false }],
    ['whether it needs a plan', { allowUnplanned: true }],
    ['its environment', { environmentRef }],
    ['whether it restores deleted keys', { includeDeleted: true }],
    ['its keys', { keys: { include: ['A'] } }],
  ])('in %s', async (_, change) => {
    const name = await trial.made({ ...byId, suspend: true });
    expectRefused(
      await trial.change(name, change),
      'a SnapshotRestore is immutable, except mode, planHash and suspend',
    );
  });

  test('but it can be approved, approved again, and suspended', async () => {
    const planned = await trial.made({ ...byId, suspend: true });
    expect(await trial.change(planned, { suspend: false })).toMatchObject({ status: 200 });
    expect(await trial.change(planned, { mode: 'Apply', planHash })).toMatchObject({ status: 200 });
    expectRefused(await trial.change(planned, { mode: 'Apply' }), needsPlan);
    const approved = await trial.made({ ...byId, mode: 'Apply', planHash, suspend: true });
    expect(await trial.change(approved, { planHash: planHash.toUpperCase() })).toMatchObject({ status: 200 });
  });

  test('back into a plan once it was approved', async () => {
    const name = await trial.made({ ...byId, mode: 'Apply', planHash, suspend: true });
    const back = await trial.change(name, { mode: 'Plan', planHash: null });
    expectRefused(back, 'mode cannot change from Apply to Plan: create another SnapshotRestore');
  });
});
