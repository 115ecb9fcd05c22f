import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  type HashedRequest,
  listsOf,
  planHash,
  sizesOf,
} from '../../../src/services/snapshots/restore/restore-plan.ts';
import type { PlannedKey } from '../../../src/store/restore.ts';

const id = (digit: number): string => `00000000-0000-4000-8000-00000000000${digit}`;

const request: HashedRequest = {
  environmentId: id(1),
  snapshotId: id(2),
  prune: true,
  skipUnchanged: false,
  backup: false,
};

function planned(key: string, action: PlannedKey['action'], rest: Partial<PlannedKey> = {}): PlannedKey {
  return { key, action, version: 3, snapshotVersion: 1, presentBytes: 10, snapshotBytes: 4, ...rest };
}

const plan = {
  revisionId: id(3),
  keys: [
    planned('A', 'restore'),
    planned('B', 'leave', { snapshotBytes: 10 }),
    planned('C', 'skip', { presentBytes: 0 }),
    planned('D', 'prune', { snapshotVersion: null, snapshotBytes: null }),
    planned('E', 'keep', { snapshotVersion: null, snapshotBytes: null }),
    planned('F', 'destroyed', { snapshotBytes: 0 }),
  ],
};

describe('the lists of a plan', () => {
  test('name each key but the kept by what becomes of it', () => {
    expect(listsOf(plan)).toEqual({
      restored: ['A'],
      unchanged: ['B'],
      skipped: ['C'],
      destroyed: ['F'],
      pruned: ['D'],
    });
  });
});

describe('the sizes of a plan', () => {
  test('count the present keys and bytes, and by how much they grow', () => {
    expect(sizesOf(plan)).toEqual({ size: { secrets: 5, bytes: 50 }, growth: { secrets: -1, bytes: -16 } });
  });

  test('grow by what the snapshot has more', () => {
    const { growth } = sizesOf({ keys: [planned('A', 'restore', { snapshotBytes: 15 })] });
    expect(growth).toEqual({ secrets: 0, bytes: 5 });
  });
});

describe('the hash of a plan', () => {
  test('is a SHA-256 in base64url, the same for the same plan', () => {
    expect(planHash(request, plan)).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(planHash({ ...request }, structuredClone(plan))).toBe(planHash(request, plan));
  });

  test.each<[string, Partial<HashedRequest>]>([
    ['environment', { environmentId: id(9) }],
    ['snapshot', { snapshotId: id(9) }],
    ['option prune', { prune: false }],
    ['option skipUnchanged', { skipUnchanged: true }],
    ['option backup', { backup: true }],
    ['options that changed places', { prune: false, backup: true }],
  ])('is another for another %s', (_part, changed) => {
    expect(planHash({ ...request, ...changed }, plan)).not.toBe(planHash(request, plan));
  });

  test('is another for another revision, and for another action or version of a key', () => {
    const [first, ...others] = plan.keys;
    if (first === undefined) throw new Error('the plan has keys');
    const variants = [
      { action: 'leave' },
      { action: 'destroyed' },
      { version: 4 },
      { snapshotVersion: 2 },
      { key: 'AA' },
    ] as const;
    const hashes = variants.map((variant) =>
      planHash(request, { ...plan, keys: [{ ...first, ...variant }, ...others] }),
    );
    hashes.push(planHash(request, { ...plan, revisionId: id(9) }), planHash(request, { ...plan, keys: others }));
    expect(new Set([...hashes, planHash(request, plan)]).size).toBe(hashes.length + 1);
  });

  test('differs where keys and versions do, however they are cut', () => {
    const key = fc.constantFrom('A', 'A1', '1', '11', 'A:1', '1:A', 'restore', 'prune', '-');
    const entry = fc.record({
      key,
      action: fc.constantFrom('restore' as const, 'prune' as const),
      version: fc.constantFrom(1, 11, 111),
      snapshotVersion: fc.constantFrom(null, 1, 11),
    });
    const keys = fc.array(entry, { maxLength: 3 });
    fc.assert(
      fc.property(keys, keys, (one, two) => {
        const hashOf = (entries: typeof one): string =>
          planHash(request, { ...plan, keys: entries.map((part) => planned(part.key, part.action, part)) });
        expect(hashOf(one) === hashOf(two)).toBe(
          JSON.stringify(one.map(Object.values)) === JSON.stringify(two.map(Object.values)),
        );
      }),
    );
  });
});
