import { expect, test } from '@jest/globals';
import { UnfinishedRestores } from '../../../src/controller/kinds/snapshot-restore/unfinished.ts';
import type { SnapshotRestore } from '../../../src/controller/generated/snapshot-restore.ts';

const snapshotId = '3f6c2a7e-0000-4000-8000-000000000001';

function restoreOf(name: string, spec: object, complete?: 'True' | 'False'): SnapshotRestore {
  const conditions = complete === undefined ? [] : [{ type: 'Complete', status: complete }];
  return { metadata: { name, namespace: 'web' }, spec, status: { conditions } } as unknown as SnapshotRestore;
}

test('a restore that is not complete needs its SecretSnapshot or snapshot, until it is complete or gone', () => {
  const restores = new UnfinishedRestores(() => true);
  const both = (): readonly string[] => restores.referrersIn()('web/nightly-1', snapshotId);
  expect(both()).toEqual([]);
  restores.seen(restoreOf('by-name', { snapshotRef: { name: 'nightly-1' } }), 'web/nightly-1');
  restores.seen(restoreOf('by-id', { snapshotId }, 'False'), undefined);
  expect(both()).toEqual(['SnapshotRestore by-name', 'SnapshotRestore by-id']);
  expect(restores.referrersIn()('web/nightly-2', null)).toEqual([]);
  restores.seen(restoreOf('by-name', { snapshotRef: { name: 'nightly-1' } }, 'True'), 'web/nightly-1');
  expect(both()).toEqual(['SnapshotRestore by-id']);
  restores.gone('web/by-id');
  expect(both()).toEqual([]);
});

test('until all are listed, it says so', () => {
  let isListed = false;
  const restores = new UnfinishedRestores(() => isListed);
  expect(restores.isSynced).toBe(false);
  isListed = true;
  expect(restores.isSynced).toBe(true);
});
