import { expect, test } from '@jest/globals';
import type { SecretSnapshot } from '../../../src/controller/generated/secret-snapshot.ts';
import { adoptionsOf } from '../../../src/controller/kinds/secret-snapshot/adoptions.ts';

const snapshotId = '3f6c2a7e-0000-4000-8000-000000000001';

test('a snapshot is referred to by each SecretSnapshot that adopts it, until that is gone', () => {
  const present = new Map<string, SecretSnapshot>();
  const adoptions = adoptionsOf({
    isSynced: true,
    find: (key) => present.get(key),
    keys: () => present.keys(),
  });
  const seen = (key: string, source: object | undefined): void => {
    if (source === undefined) present.delete(key);
    else present.set(key, { spec: { source } } as unknown as SecretSnapshot);
  };
  const referrers = (): readonly string[] => adoptions.referrersIn('web')('web/nightly-1', snapshotId);
  seen('web/nightly-1', { environmentRef: {} });
  expect(referrers()).toEqual([]);
  seen('web/release', { snapshotId });
  seen('other/kept', { snapshotId });
  seen('web/else', { snapshotId: '3f6c2a7e-0000-4000-8000-000000000002' });
  expect(referrers()).toEqual(['SecretSnapshot release', 'SecretSnapshot kept']);
  expect(adoptions.referrersIn('web')('web/nightly-1', null)).toEqual([]);
  seen('web/release', undefined);
  expect(referrers()).toEqual(['SecretSnapshot kept']);
});
