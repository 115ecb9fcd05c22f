import { describe, expect, test } from '@jest/globals';
import { type NamespaceSelector, isGrantFor, rulesOf } from '../../../src/controller/kinds/access-grant/match.ts';

type Labels = Record<string, string>;
type Expression = NonNullable<NamespaceSelector['matchExpressions']>[number];

const selected = (namespaceSelector: NamespaceSelector, labels: Labels | undefined): boolean =>
  isGrantFor({ namespaceSelector }, { name: 'a', labels });

describe('names', () => {
  test.each([
    [['a'], true],
    [['b', 'a'], true],
    [['b'], false],
    [['A'], false],
    [['a*'], false],
    [['*'], true],
    [[], false],
  ])('%j are for the namespace a: %s', (namespaces, expected) => {
    expect(isGrantFor({ namespaces }, { name: 'a', labels: { x: 'y' } })).toBe(expected);
    expect(isGrantFor({ namespaces }, { name: 'a', labels: undefined })).toBe(expected);
  });
});

describe('labels', () => {
  const cases: readonly [Labels, Labels, boolean][] = [
    [{ team: 'a' }, { team: 'a' }, true],
    [{ team: 'a' }, { team: 'a', more: 'x' }, true],
    [{ team: 'a' }, { team: 'b' }, false],
    [{ team: 'a' }, {}, false],
    [{ team: '' }, {}, false],
    [{ team: '' }, { team: '' }, true],
    [{ team: 'a', tier: 'web' }, { team: 'a' }, false],
    [{ team: 'a', tier: 'web' }, { team: 'a', tier: 'web' }, true],
  ];
  test.each(cases)('%j selects a namespace with %j: %s', (matchLabels, labels, expected) => {
    expect(selected({ matchLabels }, labels)).toBe(expected);
  });
});

describe('expressions', () => {
  const cases: readonly [Omit<Expression, 'key'>, Labels, boolean][] = [
    [{ operator: 'In', values: ['a', 'b'] }, { team: 'b' }, true],
    [{ operator: 'In', values: ['a', 'b'] }, { team: 'c' }, false],
    [{ operator: 'In', values: ['a'] }, {}, false],
    [{ operator: 'In', values: [''] }, {}, false],
    [{ operator: 'In' }, { team: 'a' }, false],
    [{ operator: 'NotIn', values: ['a'] }, { team: 'b' }, true],
    [{ operator: 'NotIn', values: ['a'] }, { team: 'a' }, false],
    [{ operator: 'NotIn', values: ['a'] }, {}, true],
    [{ operator: 'Exists' }, { team: '' }, true],
    [{ operator: 'Exists' }, { other: 'a' }, false],
    [{ operator: 'DoesNotExist' }, { other: 'a' }, true],
    [{ operator: 'DoesNotExist' }, { team: '' }, false],
  ];
  test.each(cases)('%j selects a namespace with %j: %s', (expression, labels, expected) => {
    expect(selected({ matchExpressions: [{ key: 'team', ...expression }] }, labels)).toBe(expected);
  });

  test('and labels must all hold', () => {
    const selector: NamespaceSelector = {
      matchLabels: { tier: 'web' },
      matchExpressions: [
        { key: 'team', operator: 'Exists' },
        { key: 'old', operator: 'DoesNotExist' },
      ],
    };
    expect(selected(selector, { tier: 'web', team: 'a' })).toBe(true);
    expect(selected(selector, { tier: 'web', team: 'a', old: '' })).toBe(false);
    expect(selected(selector, { team: 'a' })).toBe(false);
  });

  test('about a label with the name of something that every object has', () => {
    expect(selected({ matchExpressions: [{ key: 'constructor', operator: 'Exists' }] }, {})).toBe(false);
  });
});

test.each([{}, { matchLabels: {} }, { matchLabels: {}, matchExpressions: [] }])(
  'the empty selector %j selects nothing',
  (selector) => {
    expect(selected(selector, { team: 'a' })).toBe(false);
  },
);

test('labels select nothing of a namespace that is not known to exist', () => {
  expect(selected({ matchExpressions: [{ key: 'team', operator: 'DoesNotExist' }] }, undefined)).toBe(false);
});

test('a grant without namespaces in either way is for none', () => {
  expect(isGrantFor({}, { name: 'a', labels: {} })).toBe(false);
});

test('rules keep everything but the spelling of the permission', () => {
  const rule = { organization: 'acme', project: 'web', environments: ['prod'], kinds: ['ServiceToken' as const] };
  const rules = [
    { ...rule, permission: 'Read' as const },
    { ...rule, permission: 'ReadWrite' as const },
  ];
  expect(rulesOf({ rules })).toEqual([
    { ...rule, permission: 'read' },
    { ...rule, permission: 'read_write' },
  ]);
});

test('a rule without permission and kinds allows reading to ServiceTokens', () => {
  const rule = { organization: 'acme', project: 'web', environments: ['prod'] };
  expect(rulesOf({ rules: [rule] })).toEqual([{ ...rule, permission: 'read', kinds: ['ServiceToken'] }]);
});
