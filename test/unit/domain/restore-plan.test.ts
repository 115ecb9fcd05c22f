import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { KeySelection } from '../../../src/domain/key-globs.ts';
import { growthOf, type KeyVersion, sizeOf } from '../../../src/domain/plans/plan.ts';
import {
  type HashedRestore,
  planRestore,
  type RestoreAction,
  type RestoreFact,
  type RestoreOptions,
  restoreParts,
} from '../../../src/domain/plans/restore.ts';
import { digestOf } from '../../../src/services/kernel/plan-hash.ts';
import { destroyedVersion, id, presentKey, versionOf } from './plan-builders.ts';

const place = { revision: 5, revisionId: id(3) };
const plain: RestoreOptions = { prune: false, skipUnchanged: false, includeDeleted: false };

function fact(key: string, value: string | null, snapshot: KeyVersion | null): RestoreFact {
  return { ...presentKey(key, value), snapshot };
}

function actionsOf(facts: readonly RestoreFact[], options: Partial<RestoreOptions> = {}): [string, RestoreAction][] {
  const { keys } = planRestore({ ...place, keys: facts }, { ...plain, ...options });
  return keys.map(({ key, action }) => [key, action]);
}

describe('the action of a key', () => {
  const live = (snapshot: KeyVersion | null): RestoreFact => fact('KEY', 'a', snapshot);
  const deleted = (snapshot: KeyVersion | null): RestoreFact => fact('KEY', null, snapshot);

  test.each<[string, RestoreFact, Partial<RestoreOptions>, RestoreAction]>([
    ['another value in the snapshot', live(versionOf(1, 'b')), {}, 'restore'],
    ['the value that it has', live(versionOf(1, 'a')), {}, 'restore'],
    ['the value that it has, if unchanged keys are left', live(versionOf(1, 'a')), { skipUnchanged: true }, 'leave'],
    ['another value, if unchanged keys are left', live(versionOf(1, 'b')), { skipUnchanged: true }, 'restore'],
    ['a destroyed value', live(destroyedVersion(1)), { skipUnchanged: true }, 'destroyed'],
    ['nothing', live(null), {}, 'keep'],
    ['nothing, with prune', live(null), { prune: true }, 'prune'],
    ['a value, and was deleted since', deleted(versionOf(1, 'a')), {}, 'skip'],
    ['a destroyed value, and was deleted since', deleted(destroyedVersion(1)), {}, 'skip'],
    ['a value, and comes back', deleted(versionOf(1, 'a')), { includeDeleted: true }, 'recreate'],
    [
      'a value, and comes back unchanged',
      deleted(versionOf(3, 'a')),
      { includeDeleted: true, skipUnchanged: true },
      'recreate',
    ],
    ['a destroyed value, and would come back', deleted(destroyedVersion(1)), { includeDeleted: true }, 'destroyed'],
  ])('that has %s', (_sentence, key, options, action) => {
    expect(actionsOf([key], options)).toEqual([['KEY', action]]);
  });
});

describe('a selection of keys', () => {
  const facts = [
    fact('DB_HOST', 'a', versionOf(1, 'b')),
    fact('DB_NEW', 'a', null),
    fact('DB_OLD', null, versionOf(1, 'b')),
    fact('WEB_NEW', 'a', null),
    fact('WEB_OLD', null, versionOf(1, 'b')),
    fact('WEB_URL', 'a', versionOf(1, 'b')),
  ];
  const options = { prune: true, includeDeleted: true };

  test('limits restoring, recreating and pruning; the other present keys stay', () => {
    expect(actionsOf(facts, { ...options, keys: { include: ['DB_*'] } })).toEqual([
      ['DB_HOST', 'restore'],
      ['DB_NEW', 'prune'],
      ['DB_OLD', 'recreate'],
      ['WEB_NEW', 'keep'],
      ['WEB_URL', 'keep'],
    ]);
  });

  test('excludes what it includes', () => {
    expect(actionsOf(facts, { ...options, keys: { exclude: ['WEB_*', 'DB_OLD'] } })).toEqual([
      ['DB_HOST', 'restore'],
      ['DB_NEW', 'prune'],
      ['WEB_NEW', 'keep'],
      ['WEB_URL', 'keep'],
    ]);
  });

  test.each<[string, KeySelection | undefined, number]>([
    ['of nothing selects all', undefined, 6],
    ['without lists selects all', {}, 6],
    ['with an empty list of inclusions selects none', { include: [] }, 0],
  ])('%s', (_sentence, keys, selected) => {
    const kept: readonly RestoreAction[] = ['keep', 'skip'];
    expect(actionsOf(facts, { ...options, keys }).filter(([, action]) => !kept.includes(action))).toHaveLength(
      selected,
    );
  });
});

describe('the sizes of a plan', () => {
  const bytes = (value: KeyVersion, valueBytes: number): KeyVersion => ({ ...value, valueBytes });
  const facts = [
    fact('A', 'a', bytes(versionOf(1, 'b'), 4)),
    fact('B', 'a', versionOf(1, 'a')),
    fact('C', null, bytes(versionOf(1, 'b'), 7)),
    fact('D', 'a', null),
    fact('E', 'a', destroyedVersion(1)),
  ];

  test.each<[string, Partial<RestoreOptions>, { secrets: number; bytes: number }]>([
    ['nothing is added or pruned', { skipUnchanged: true }, { secrets: 0, bytes: -6 }],
    ['a key is pruned', { skipUnchanged: true, prune: true }, { secrets: -1, bytes: -16 }],
    ['a key is recreated', { skipUnchanged: true, includeDeleted: true }, { secrets: 1, bytes: 1 }],
  ])('count the present keys and what is added, if %s', (_sentence, options, growth) => {
    const plan = planRestore({ ...place, keys: facts }, { ...plain, ...options });
    expect(sizeOf(plan)).toEqual({ secrets: 4, bytes: 40 });
    expect(growthOf(plan)).toEqual(growth);
  });
});

const request: HashedRestore = {
  ...plain,
  environmentId: id(1),
  snapshotId: id(2),
  backup: false,
};

function hashOf(changed: Partial<HashedRestore> = {}, facts: readonly RestoreFact[] = hashedFacts): string {
  const asked = { ...request, ...changed };
  return digestOf(restoreParts(asked, planRestore({ ...place, keys: facts }, asked)));
}

const hashedFacts = [
  fact('A', 'a', versionOf(1, 'b')),
  { ...fact('B', 'a', versionOf(2, 'a')), version: 2 },
  { ...fact('C', null, versionOf(1, 'b')), version: 4 },
  { ...fact('D', 'a', destroyedVersion(2)), version: 5 },
  { ...fact('E', 'a', null), version: 1 },
];

describe('the hash of a plan', () => {
  test('stays the same from release to release', () => {
    // Servers of two releases must approve the plans of each other while both run.
    expect(hashOf({ prune: true, skipUnchanged: true })).toBe('3_ApY5Zoa7hArstCMZVJNARf4DxvAf5O2itQkjtdwVY');
    const [first, last] = [hashedFacts.slice(0, 1), hashedFacts.slice(4)];
    expect(hashOf({ backup: true }, [...first, ...last])).toBe('Q9jse7GInAn3A32ZsEyQQroBg4LY_7OsZq7Iqp6lxYU');
  });

  test('is a SHA-256 in base64url, the same for the same plan', () => {
    expect(hashOf()).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(hashOf({}, structuredClone(hashedFacts))).toBe(hashOf());
  });

  test('is another for each other request', () => {
    const requests: Partial<HashedRestore>[] = [
      {},
      { environmentId: id(9) },
      { snapshotId: id(9) },
      { prune: true },
      { skipUnchanged: true },
      { backup: true },
      { includeDeleted: true },
      { includeDeleted: true, backup: true },
      { keys: {} },
      { keys: { include: ['A'] } },
      { keys: { exclude: ['A'] } },
      { keys: { include: ['A', 'B'] } },
      { keys: { include: ['A'], exclude: ['B'] } },
      { keys: { include: [] } },
      { includeDeleted: true, keys: { include: ['A'] } },
    ];
    expect(new Set(requests.map((changed) => hashOf(changed))).size).toBe(requests.length);
  });

  test('is another for another action or version of a key', () => {
    const [first, ...others] = hashedFacts;
    if (first === undefined) throw new Error('the plan has keys');
    const variants: RestoreFact[] = [
      first,
      { ...first, snapshot: destroyedVersion(1) },
      { ...first, version: 4 },
      { ...first, snapshot: versionOf(2, 'b') },
      { ...first, key: 'AA' },
    ];
    const hashes = [...variants.map((variant) => hashOf({}, [variant, ...others])), hashOf({}, others)];
    expect(new Set(hashes).size).toBe(hashes.length);
  });

  test('differs where keys and versions do, however they are cut', () => {
    const entry = fc.record({
      key: fc.constantFrom('A', 'A1', '1', '11', 'A:1', '1:A', 'restore', 'prune', '-'),
      version: fc.constantFrom(1, 11, 111),
      snapshotVersion: fc.constantFrom(null, 1, 11),
    });
    const keys = fc.array(entry, { maxLength: 3 });
    fc.assert(
      fc.property(keys, keys, (one, two) => {
        const hash = (entries: typeof one): string =>
          hashOf(
            { prune: true },
            entries.map(({ key, version, snapshotVersion }) => ({
              ...fact(key, 'a', snapshotVersion === null ? null : versionOf(snapshotVersion, 'b')),
              version,
            })),
          );
        expect(hash(one) === hash(two)).toBe(
          JSON.stringify(one.map(Object.values)) === JSON.stringify(two.map(Object.values)),
        );
      }),
    );
  });
});
