import { describe, expect, test } from '@jest/globals';
import {
  deleteInDraft,
  dropFromDraft,
  emptyDraft,
  keepInDraft,
  planOf,
  requestOf,
  setInDraft,
} from '../../../src/dashboard/text/draft.ts';
import { firstLineOf } from '../../../src/dashboard/text/first-line.ts';
import { rowsOf } from '../../../src/dashboard/text/key-rows.ts';
import { rightsAt } from '../../../src/dashboard/text/place.ts';
import { readFile } from '../../../src/dashboard/text/read-file.ts';
import type { SecretKeyView } from '../../../src/wire/secrets.ts';

const versions = new Map([
  ['A', 1],
  ['B', 4],
]);
const set = (key: string, value: string) => new Map([[key, value]]);
const changes = (draft: typeof emptyDraft, present = versions) =>
  planOf(draft, present).map(({ key, change, isConflict }) => [key, change, isConflict]);

describe('a draft', () => {
  test('plans what it adds, sets and deletes, by key', () => {
    let draft = setInDraft(emptyDraft, versions, set('Z', 'z'));
    draft = setInDraft(draft, versions, set('A', 'a'));
    draft = deleteInDraft(draft, versions, ['B']);
    expect(changes(draft)).toEqual([
      ['A', 'set', false],
      ['B', 'delete', false],
      ['Z', 'add', false],
    ]);
    expect(requestOf(planOf(draft, versions))).toEqual({ set: { A: 'a', Z: 'z' }, delete: ['B'] });
    expect(dropFromDraft(draft, ['A', 'B', 'Z']).size).toBe(0);
  });

  test('forgets a key that is only in it when that is deleted', () => {
    const draft = setInDraft(emptyDraft, versions, set('Z', 'z'));
    expect(deleteInDraft(draft, versions, ['Z']).size).toBe(0);
  });

  test('is in conflict if others changed, deleted or created the key, until the user keeps theirs', () => {
    let draft = setInDraft(emptyDraft, versions, set('A', 'a'));
    draft = setInDraft(draft, versions, set('B', 'b'));
    draft = setInDraft(draft, versions, set('N', 'n'));
    const later = new Map([
      ['A', 2],
      ['N', 1],
    ]);
    expect(changes(draft, later)).toEqual([
      ['A', 'set', true],
      ['B', 'add', true],
      ['N', 'set', true],
    ]);
    // What is typed next does not end the conflict.
    draft = setInDraft(draft, later, set('A', 'a again'));
    expect(changes(draft, later)[0]).toEqual(['A', 'set', true]);
    draft = keepInDraft(keepInDraft(keepInDraft(draft, 'A', 2), 'B', 0), 'N', 1);
    expect(changes(draft, later).map(([, , isConflict]) => isConflict)).toEqual([false, false, false]);
    expect(keepInDraft(draft, 'unknown', 1)).toBe(draft);
  });

  test('does not delete what others have deleted', () => {
    const draft = deleteInDraft(emptyDraft, versions, ['A']);
    expect(changes(draft, new Map())).toEqual([]);
  });
});

describe('the rows of the table', () => {
  const secret = (key: string) => ({ key, version: 1 }) as SecretKeyView;
  const draft = deleteInDraft(setInDraft(emptyDraft, versions, set('Aa', '1')), versions, ['B']);

  test('have the keys of the draft in their place, and what becomes of each', () => {
    const rows = rowsOf([secret('A'), secret('B')], draft, '');
    expect(rows.map(({ key, mark }) => [key, mark])).toEqual([
      ['A', undefined],
      ['Aa', 'add'],
      ['B', 'delete'],
    ]);
  });

  test('are filtered by their names, in any case', () => {
    expect(rowsOf([secret('A'), secret('B')], draft, ' a ').map(({ key }) => key)).toEqual(['A', 'Aa']);
    expect(rowsOf([secret('A')], draft, 'x')).toEqual([]);
  });
});

describe('a pasted file', () => {
  test('says what is new, present and missing, with the warnings of the parser', () => {
    const { added, present, missing, warnings, fault } = readFile('A=1\nN=x#y\n', versions);
    expect([added, present, missing, fault]).toEqual([['N'], ['A'], ['B'], undefined]);
    expect(warnings).toMatchObject([{ line: 2, key: 'N' }]);
  });

  test('has a fault by line, which holds nothing of it', () => {
    const { fault, secrets } = readFile('A=1\nh1dden text', versions);
    expect(fault).toMatch(/^line 2: /);
    expect(fault).not.toContain('h1dden');
    expect(secrets.size).toBe(0);
  });
});

describe('what a user may do', () => {
  const place = { organization: 'acme', project: 'shop', environment: 'production' };
  const member = (role: string) => ({ organizations: [{ slug: 'acme', role }] });
  test.each([
    ['viewer', false, [false, false, false]],
    ['developer', false, [true, true, false]],
    ['developer', true, [false, true, false]],
    ['admin', true, [true, true, true]],
    ['owner', false, [true, true, true]],
  ] as const)('as %s, protected: %s', (role, isProtected, [mayWrite, mayTakeSnapshots, mayDestroy]) => {
    expect(rightsAt(place, member(role), { isProtected })).toEqual({ mayWrite, mayTakeSnapshots, mayDestroy });
  });

  test('includes roles of the project and of the environment, and not of others', () => {
    const role = (project: string | null, environment: string | null, organization = 'acme') => ({
      organizations: [],
      rolesByPlace: [{ organization, project, environment, role: 'developer' }],
    });
    const may = (user: Parameters<typeof rightsAt>[1]) => rightsAt(place, user, { isProtected: false }).mayWrite;
    expect(may(role('shop', null))).toBe(true);
    expect(may(role('shop', 'production'))).toBe(true);
    expect(may(role(null, null))).toBe(true);
    expect(may(role('shop', 'staging'))).toBe(false);
    expect(may(role('ledger', null))).toBe(false);
    expect(may(role('shop', null, 'other'))).toBe(false);
  });
});

test.each([
  ['one', 'one', 0],
  ['one\n', 'one', 0],
  ['one\r\ntwo\nthree', 'one', 2],
  ['', '', 0],
])('the first line of %j', (text, line, more) => {
  expect(firstLineOf(text)).toEqual({ line, more });
});
