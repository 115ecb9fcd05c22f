import { describe, expect, test } from '@jest/globals';
import { keysSince, restoreKeys, revertKeys } from '../../../src/dashboard/text/planned-keys.ts';
import { daysOf, matchingEntries, mergeTimeline, originOf } from '../../../src/dashboard/text/timeline.ts';
import type { ChangeView } from '../../../src/wire/changes.ts';
import type { SnapshotView } from '../../../src/wire/snapshots.ts';

const id = '5c0f6a5e-6f0b-4a0e-9d0e-0b8f7a1c2d3e';
const by = { changedBy: id, changedByType: 'user', changedByName: 'Ann' } as const;
const change = (revision: number, at: string, rest: Partial<ChangeView> = {}): ChangeView => ({
  ...by,
  revision,
  revisionId: id,
  comment: null,
  createdAt: `2026-11-${at}:00.000Z`,
  keys: [{ key: `KEY_${revision}`, version: 1 }],
  ...rest,
});
const snapshot = (name: string, at: string): SnapshotView => ({
  id,
  name,
  description: null,
  createdBy: id,
  createdByType: 'user',
  createdByName: 'Bo',
  createdAt: `2026-11-${at}:00.000Z`,
  secretCount: 1,
  revision: 1,
  revisionId: id,
});
const all = <Item>(...items: Item[]) => ({ items, hasMore: false });
const some = <Item>(...items: Item[]) => ({ items, hasMore: true });
const names = (entries: ReturnType<typeof mergeTimeline>['entries']) =>
  entries.map((entry) => (entry.kind === 'revision' ? entry.change.revision : entry.snapshot.name));

describe('the timeline', () => {
  test('merges revisions and snapshots, newest first; of one moment the snapshot is later', () => {
    const { entries, next } = mergeTimeline(
      all(change(3, '20T12:00'), change(2, '20T10:00'), change(1, '20T09:00')),
      all(snapshot('b', '20T11:00'), snapshot('a', '20T09:00')),
    );
    expect([names(entries), next]).toEqual([[3, 'b', 2, 'a', 1], undefined]);
  });

  test('leaves out what is older than the loaded part of the other list, and names the list that comes next', () => {
    const revisions = [change(9, '20T12:00'), change(8, '20T10:00')];
    const early = mergeTimeline(some(...revisions), all(snapshot('b', '20T11:00'), snapshot('a', '01T09:00')));
    expect([names(early.entries), early.next]).toEqual([[9, 'b', 8], 'changes']);
    const late = mergeTimeline(some(...revisions), some(snapshot('b', '20T11:00')));
    expect([names(late.entries), late.next]).toEqual([[9, 'b'], 'snapshots']);
    expect(mergeTimeline(all(), all())).toEqual({ entries: [], next: undefined });
  });

  test('finds entries by key, person, comment, name and number, in any case', () => {
    const { entries } = mergeTimeline(
      all(
        change(2, '20T10:00', { comment: 'New cluster' }),
        change(1, '20T09:00', { changedByName: 'Cy', changedByCluster: 'fra-1' }),
      ),
      all(snapshot('before Release', '20T11:00')),
    );
    const found = (filter: string) => names(matchingEntries(entries, filter));
    expect(found(' key_1 ')).toEqual([1]);
    expect(found('CLUSTER')).toEqual([2]);
    expect(found('cy')).toEqual([1]);
    expect(found('cy in fra-1')).toEqual([1]);
    expect(found('release')).toEqual(['before Release']);
    expect(found('bo')).toEqual(['before Release']);
    expect(found('revision 2')).toEqual([2]);
    expect(found('nothing')).toEqual([]);
    expect(found('')).toHaveLength(3);
  });

  test('has a title for each day', () => {
    const local = (day: number, year = 2026) => new Date(year, 10, day, 12).toISOString();
    const { entries } = mergeTimeline(
      all(
        change(4, '', { createdAt: local(20) }),
        change(3, '', { createdAt: local(19) }),
        change(2, '', { createdAt: local(2) }),
        change(1, '', { createdAt: local(2, 2025) }),
      ),
      all(),
    );
    expect(daysOf(entries, new Date(2026, 10, 20, 23)).map(({ title }) => title)).toEqual([
      'Today',
      'Yesterday',
      'Monday, November 2',
      'Sunday, November 2, 2025',
    ]);
  });
});

test.each([
  [null, undefined, null],
  ['rotate', undefined, 'rotate'],
  [`restored from snapshot ${id}`, 'Restore of a snapshot', null],
  [`restored from snapshot ${id}: bad release`, 'Restore of a snapshot', 'bad release'],
  [
    `restored from snapshot ${id} by SnapshotRestore shop/undo`,
    'Restore of a snapshot by SnapshotRestore shop/undo',
    null,
  ],
  ['reverted revision 41', 'Revert of revision 41', null],
  ['reverted revision 41: wrong database: again', 'Revert of revision 41', 'wrong database: again'],
  ['restored revision 12', 'Restore of revision 12', null],
  ['restored revision 12: bad release', 'Restore of revision 12', 'bad release'],
  ['copied from shop/staging at revision 7', 'Copy from shop/staging at revision 7', null],
  ['reverted revision of the docs', undefined, 'reverted revision of the docs'],
])('the origin of a revision with the comment %s', (comment, shown, rest) => {
  const { origin, comment: left } = originOf({ comment });
  expect([origin === undefined ? undefined : `${origin.name} ${origin.from}`, left]).toEqual([shown, rest]);
});

describe('the keys of a plan', () => {
  const present = { unchanged: [], revision: 3, revisionId: id };
  test('of a restore', () => {
    const lists = { restored: ['C'], recreated: ['A'], pruned: ['B'], skipped: ['S'], destroyed: ['X'] };
    const { changes, left } = restoreKeys(lists);
    expect(changes.map(({ key, change: what }) => `${what} ${key}`)).toEqual(['add A', 'delete B', 'set C']);
    expect(left.map(({ key }) => key)).toEqual(['S', 'X']);
  });

  test('of a revert, with those that changed again later', () => {
    const lists = { restored: ['C', 'D'], recreated: ['A'], deleted: ['B'], destroyed: ['X'] };
    const conflicts = [{ key: 'D', reason: 'changed' as const }];
    const { changes, left } = revertKeys({
      ...present,
      ...lists,
      conflicts,
      reverted: { revision: 2, revisionId: id },
    });
    expect(changes.map(({ key, change: what }) => `${what} ${key}`)).toEqual(['add A', 'delete B', 'set C', 'set D']);
    expect(changes.filter(({ note }) => note?.includes('changed again later')).map(({ key }) => key)).toEqual(['D']);
    expect(left.map(({ key }) => key)).toEqual(['X']);
  });

  test('that became others since', () => {
    const at = (key: string, version: number) => ({
      key,
      version,
      updatedAt: '',
      updatedBy: id,
      updatedByType: 'user' as const,
      updatedByName: 'Ann',
    });
    expect(keysSince([at('A', 1), at('B', 2), at('C', 1)], [at('A', 2), at('C', 1), at('D', 4)])).toEqual([
      { key: 'A', change: 'set', note: 'v1 then, v2 now' },
      { key: 'B', change: 'delete', note: 'v2 then, deleted since' },
      { key: 'D', change: 'add', note: 'created since, now v4' },
    ]);
  });
});
