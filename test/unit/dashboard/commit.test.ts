import { describe, expect, test } from '@jest/globals';
import {
  type Commit,
  dividePlan,
  examineLost,
  isBeingSaved,
  keepSaving,
  savedVersions,
  settle,
} from '../../../src/dashboard/text/commit.ts';
import {
  deleteInDraft,
  type Draft,
  dropFromDraft,
  emptyDraft,
  planOf,
  setInDraft,
  type Versions,
} from '../../../src/dashboard/text/draft.ts';

const versions: Versions = new Map([
  ['A', 1],
  ['B', 4],
]);
const set = (draft: Draft, key: string, value: string, present = versions): Draft =>
  setInDraft(draft, present, new Map([[key, value]]));
/** Sets A, deletes B, adds N. */
const draft = set(deleteInDraft(set(emptyDraft, 'A', 'a'), versions, ['B']), 'N', 'n');
const plan = planOf(draft, versions);
const commit: Commit = { plan, revisionId: 'r1', isLost: false };
const lost: Commit = { ...commit, isLost: true };
const later: Versions = new Map([
  ['A', 2],
  ['N', 1],
]);
const keys = (changes: readonly { readonly key: string }[]): readonly string[] => changes.map(({ key }) => key);

describe('a commit that is under way', () => {
  test('keeps its changes in the draft, whatever drops them', () => {
    expect(keepSaving(emptyDraft, commit)).toEqual(draft);
    expect(keepSaving(emptyDraft, undefined).size).toBe(0);
    expect(keepSaving(emptyDraft, lost).size).toBe(0);
  });

  test('leaves a change that the user made since as it is', () => {
    const edited = set(draft, 'A', 'a2');
    expect(keepSaving(edited, commit)).toBe(edited);
    expect(isBeingSaved('A', edited.get('A'), commit)).toBe(false);
    expect(isBeingSaved('N', edited.get('N'), commit)).toBe(true);
    expect(isBeingSaved('N', edited.get('N'), lost)).toBe(false);
  });

  test('is no conflict with itself if the list has it before its response arrives', () => {
    const edited = set(set(draft, 'A', 'a2'), 'C', 'c');
    const { saving, rest } = dividePlan(edited, planOf(edited, later), commit);
    expect(saving).toBe(plan);
    expect(rest.map(({ key, isConflict }) => [key, isConflict])).toEqual([
      ['A', false],
      ['C', false],
    ]);
  });

  test('is divided from nothing before and after it', () => {
    expect(dividePlan(draft, plan, undefined)).toEqual({ saving: [], rest: plan });
    expect(dividePlan(draft, plan, lost)).toEqual({ saving: [], rest: plan });
  });
});

describe('a commit that was saved', () => {
  const view = {
    set: [
      { key: 'A', version: 2 },
      { key: 'N', version: 1 },
    ],
    deleted: ['B'],
    unchanged: [],
  };
  const saved = { ...view, revision: 2, revisionId: 'r2' };

  test('leaves the draft, except for what the user changed since', () => {
    expect(settle(draft, plan, savedVersions(plan, saved)).size).toBe(0);
    const edited = set(set(set(draft, 'A', 'a2'), 'B', 'b'), 'C', 'c');
    const settled = settle(edited, plan, savedVersions(plan, saved));
    expect([...settled.keys()]).toEqual(['A', 'B', 'C']);
  });

  test('is where later changes begin, so that they are in no conflict with it', () => {
    const edited = set(set(draft, 'A', 'a2'), 'B', 'b');
    const settled = settle(edited, plan, savedVersions(plan, saved));
    expect(planOf(settled, later).map(({ key, change, isConflict }) => [key, change, isConflict])).toEqual([
      ['A', 'set', false],
      ['B', 'add', false],
    ]);
  });

  test('names the former version of a key that had the value already', () => {
    const unchanged = { ...saved, set: [{ key: 'N', version: 1 }], unchanged: ['A'] };
    expect(savedVersions(plan, unchanged)).toEqual(
      new Map([
        ['A', 1],
        ['N', 1],
      ]),
    );
  });
});

describe('a commit whose response was lost', () => {
  test('is unclear for each value that has another version', () => {
    const { saved, unclear } = examineLost(plan, later);
    expect(keys(saved)).toEqual(['B']);
    expect(unclear.map(({ key, version, entry }) => [key, version, entry.value])).toEqual([
      ['A', 2, 'a'],
      ['N', 1, 'n'],
    ]);
  });

  test('is not saved for keys that are as before, or gone', () => {
    expect(examineLost(plan, versions)).toEqual({ saved: [], unclear: [] });
    expect(examineLost(planOf(dropFromDraft(draft, ['B', 'N']), versions), new Map())).toEqual({
      saved: [],
      unclear: [],
    });
  });
});
