/** @default The API server accepts an AccessGrant as it is written, and refuses what is wrong. */
import { describe, expect, test } from '@jest/globals';
import { ResourceTrial } from '../support/cluster/resource-trial.ts';

const trial = new ResourceTrial({ kind: 'AccessGrant', plural: 'accessgrants' });

const rule = { organization: 'acme', project: 'web', environments: ['prod'] };
const spec = { namespaces: ['team-a'], rules: [rule] };

function withRule(part: object): object {
  return { ...spec, rules: [{ ...rule, ...part }] };
}

function withSelector(namespaceSelector: object): object {
  return { namespaceSelector, rules: [rule] };
}

function withExpression(expression: object): object {
  return withSelector({ matchExpressions: [{ key: 'team', ...expression }] });
}

test('an AccessGrant that says as little as it may gets no default, because its fields are in a list', async () => {
  expect(await trial.accepted(spec)).toEqual(spec);
});

test('AccessGrants are found by their short name and category', async () => {
  expect(await trial.appearance()).toEqual({
    shortNames: ['kgrant'],
    categories: ['keyframe'],
    namespaced: false,
  });
});

const slugRule =
  'must be a slug: 1 to 63 lower-case letters, digits and hyphens, beginning and ending with a letter or digit';
const starRule = 'beginning and ending with a letter or digit), or "*" for all';
const either = 'name the namespaces either by namespaces or by namespaceSelector';
const emptySelector = 'an empty selector selects every namespace: to select all, write namespaces ["*"]';
const valuesRule = 'In and NotIn need values, Exists and DoesNotExist have none';

const refusals: readonly [what: string, spec: object, ...message: string[]][] = [
  ['no rules', { namespaces: ['a'] }, 'spec.rules: Required value'],
  ['an empty list of rules', { namespaces: ['a'], rules: [] }, 'spec.rules', 'at least 1'],
  ['no namespaces', { rules: [rule] }, either],
  ['namespaces named in both ways', { ...spec, namespaceSelector: { matchLabels: { a: 'b' } } }, either],
  ['an empty list of namespaces', { ...spec, namespaces: [] }, 'spec.namespaces', 'at least 1'],
  ['a name that no namespace can have', { ...spec, namespaces: ['Team_A'] }, 'must be the name of a namespace, or "*"'],
  ['the same namespace twice', { ...spec, namespaces: ['a', 'a'] }, 'Duplicate value'],
  [
    '"*" beside other namespaces',
    { ...spec, namespaces: ['*', 'a'] },
    '"*" stands for all namespaces: leave the other names out',
  ],
  ['a pattern for namespaces', { ...spec, namespaces: ['team-*'] }, 'must be the name of a namespace, or "*"'],
  ['an empty selector', withSelector({}), emptySelector],
  ['a selector of empty parts', withSelector({ matchLabels: {}, matchExpressions: [] }), emptySelector],
  ['an operator that is none', withExpression({ operator: 'Equals', values: ['a'] }), 'Unsupported value'],
  ['In without values', withExpression({ operator: 'In' }), valuesRule],
  ['NotIn with an empty list', withExpression({ operator: 'NotIn', values: [] }), valuesRule],
  ['Exists with values', withExpression({ operator: 'Exists', values: ['a'] }), valuesRule],
  ['DoesNotExist with values', withExpression({ operator: 'DoesNotExist', values: ['a'] }), valuesRule],
  ['an organization that is "*"', withRule({ organization: '*' }), 'rules[0].organization', slugRule],
  ['a project in capitals', withRule({ project: 'Web' }), 'rules[0].project', starRule],
  ['an environment with a slash', withRule({ environments: ['a/b'] }), 'rules[0].environments[0]', starRule],
  ['no environments', withRule({ environments: [] }), 'rules[0].environments', 'at least 1'],
  [
    '"*" beside other environments',
    withRule({ environments: ['*', 'a'] }),
    '"*" stands for all environments: leave the other names out',
  ],
  [
    'all projects, but one environment',
    withRule({ project: '*' }),
    'project "*" is for all environments: write environments ["*"]',
  ],
  ['a permission that is none', withRule({ permission: 'Write' }), 'supported values: "Read", "ReadWrite"'],
  ['a kind that needs no grant', withRule({ kinds: ['SecretEnvironment'] }), 'supported values: "ServiceToken"'],
  ['no kinds', withRule({ kinds: [] }), 'rules[0].kinds', 'at least 1'],
];

describe('an AccessGrant is refused with a sentence about', () => {
  test.each(refusals)('%s', async (_, wanted, ...message) => await trial.refused(wanted, ...message));
});

describe('an AccessGrant may have', () => {
  test.each([
    ['all namespaces', { ...spec, namespaces: ['*'] }],
    ['a selector by labels', withSelector({ matchLabels: { 'example.com/team': 'a', empty: '' } })],
    ['a selector by expressions', withExpression({ operator: 'NotIn', values: ['a', 'b'] })],
    ['Exists with an empty list', withExpression({ operator: 'Exists', values: [] })],
    ['a whole organization', withRule({ project: '*', environments: ['*'] })],
    ['a whole project', withRule({ environments: ['*'] })],
    ['SecretSyncs alone', withRule({ kinds: ['SecretSync'] })],
    ['every kind and ReadWrite', withRule({ permission: 'ReadWrite', kinds: ['ServiceToken', 'SecretSnapshot'] })],
    [
      'as many of everything as there may be',
      {
        namespaces: Array.from({ length: 256 }, (_, n) => `${'n'.repeat(60)}${n}`.slice(-63)),
        rules: Array.from({ length: 64 }, () => ({
          ...rule,
          environments: Array.from({ length: 64 }, (_, n) => `e${'x'.repeat(58)}${n}`),
        })),
      },
    ],
  ])('%s', async (_, wanted) => {
    expect(await trial.accepted(wanted)).toMatchObject(wanted);
  });
});
