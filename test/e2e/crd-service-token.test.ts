/** @default The API server fills in the defaults of a ServiceToken, refuses what is wrong, and keeps its immutable fields. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createNamespace, discardNamespace } from '../support/cluster/cluster.ts';
import { ResourceTrial, expectRefused } from '../support/cluster/resource-trial.ts';

let namespace: string;
let trial: ResourceTrial;

beforeAll(async () => {
  namespace = await createNamespace();
  trial = new ResourceTrial({ kind: 'ServiceToken', plural: 'servicetokens', namespace });
});

afterAll(() => discardNamespace(namespace));

const environmentRef = { organization: 'acme', project: 'web', name: 'prod' };
const projectRef = { organization: 'acme', name: 'web' };
const spec = { scope: 'Environment', environmentRef };

const account = { ...spec, serviceAccountNames: ['ci'] };
const accounts = (count: number): string[] => Array.from({ length: count }, (_, index) => `account-${index}`);

function rotating(rotation: object, more: object = {}): object {
  return { ...spec, ...more, rotation: { interval: '24h', ...rotation } };
}

test('a ServiceToken that says as little as it may gets every default', async () => {
  expect(await trial.accepted(spec)).toEqual({ ...spec, permission: 'Read', suspend: false });
  const rotated = await trial.accepted(rotating({}));
  expect(rotated).toMatchObject({ rotation: { interval: '24h', overlap: '10m', maxOverlap: '1h' } });
});

test('ServiceTokens are found by their short name and category', async () => {
  expect(await trial.appearance()).toEqual({
    shortNames: ['ktoken'],
    categories: ['keyframe'],
    namespaced: true,
  });
});

const slugRule =
  'must be a slug: 1 to 63 lower-case letters, digits and hyphens, beginning and ending with a letter or digit';
const scopeRule =
  'scope Organization takes organization, scope Project takes projectRef {organization, name}, scope Environment takes ' +
  'environmentRef {organization, project, name}: set the one of the scope, and remove the others';
const lifeRule = 'must be a duration from 1m to 87600h: numbers with h, m or s, such as 720h';
const places = { organization: 'acme', projectRef, environmentRef };
const placeOfScope = { Organization: 'organization', Project: 'projectRef', Environment: 'environmentRef' } as const;
type Scope = keyof typeof placeOfScope;
const scopes = Object.keys(placeOfScope) as Scope[];

/** Every set of places, of which each scope accepts one. */
const placeSets: readonly Partial<typeof places>[] = [0, 1, 2, 3, 4, 5, 6, 7].map((bits) =>
  Object.fromEntries(Object.entries(places).filter((_, index) => (bits & (1 << index)) !== 0)),
);

const refusals: readonly [what: string, spec: object, ...message: string[]][] = [
  ['no scope', { environmentRef }, 'spec.scope: Required value'],
  ['a scope that is none', { ...spec, scope: 'Cluster' }, 'supported values: "Organization"'],
  [
    'an environment named as in an AccessGrant',
    { scope: 'Environment', organization: 'a', project: 'b', environment: 'c' },
    scopeRule,
  ],
  ['an organization that is "*"', { scope: 'Organization', organization: '*' }, 'spec.organization', slugRule],
  [
    'a project that is "*"',
    { scope: 'Project', projectRef: { ...projectRef, name: '*' } },
    'spec.projectRef.name',
    slugRule,
  ],
  [
    'an environment in capitals',
    { ...spec, environmentRef: { ...environmentRef, name: 'Prod' } },
    'spec.environmentRef.name',
    slugRule,
  ],
  [
    'an environment without its project',
    { ...spec, environmentRef: { organization: 'acme', name: 'prod' } },
    'spec.environmentRef.project: Required value',
  ],
  ['a permission that is none', { ...spec, permission: 'Admin' }, 'supported values: "Read", "ReadWrite"'],
  ['a life in days', { ...spec, expiresIn: '30d' }, 'spec.expiresIn', lifeRule],
  ['a life too short', { ...spec, expiresIn: '59s' }, 'spec.expiresIn', lifeRule],
  ['a life too long', { ...spec, expiresIn: '87600h1s' }, 'spec.expiresIn', lifeRule],
  ['a rotation without interval', { ...spec, rotation: {} }, 'spec.rotation.interval: Required value'],
  ['a rotation too frequent', rotating({ interval: '59s', maxOverlap: '1s', overlap: '1s' }), 'at least 1m'],
  [
    'an interval in days',
    rotating({ interval: '7d' }, { expiresIn: '720h' }),
    'spec.rotation.interval',
    'such as 168h',
  ],
  [
    'an overlap in days',
    rotating({ overlap: '1d' }),
    'spec.rotation.overlap',
    'must be a duration: numbers with h, m or s',
  ],
  ['a limit in days', rotating({ maxOverlap: '1d' }), 'spec.rotation.maxOverlap', 'must be a duration: numbers'],
  ['an overlap as long as the interval', rotating({ maxOverlap: '24h' }), 'maxOverlap must be shorter than interval'],
  ['an overlap over its limit', rotating({ overlap: '2h' }), 'overlap must not be longer than maxOverlap'],
  ['an interval shorter than the default limit', rotating({ interval: '30m' }), 'maxOverlap must be shorter'],
  [
    'a value that ends before the next one is made',
    rotating({}, { expiresIn: '24h' }),
    'expiresIn must be longer than rotation.interval',
  ],
  [
    'accounts beside a Secret',
    { ...spec, serviceAccountNames: ['ci'], secretName: 'ci' },
    'spec.secretName',
    'remove secretName',
  ],
  ['accounts beside a rotation', rotating({}, { serviceAccountNames: ['ci'] }), 'spec.rotation', 'remove rotation'],
  ['no account', { ...spec, serviceAccountNames: [] }, 'spec.serviceAccountNames', 'should have at least 1 items'],
  ['accounts more than ten', { ...spec, serviceAccountNames: accounts(11) }, 'must have at most 10 items'],
  ['an account twice', { ...spec, serviceAccountNames: ['ci', 'ci'] }, 'spec.serviceAccountNames[1]: Duplicate value'],
  [
    'an account of another namespace',
    { ...spec, serviceAccountNames: ['b:ci'] },
    'must be the name of a ServiceAccount',
  ],
  ['a Secret that none can be', { ...spec, secretName: 'a..b' }, 'spec.secretName', 'must be the name of a Secret'],
];

describe('a ServiceToken is refused with a sentence about', () => {
  test.each(refusals)('%s', async (_, wanted, ...message) => await trial.refused(wanted, ...message));

  test('each duration in days, without an error of the rules that compare durations', async () => {
    const inDays = rotating({ interval: '7d', overlap: '1d', maxOverlap: '2d' }, { expiresIn: '30d' });
    const { status, body } = await trial.offer(inDays);
    expect(status).toBe(422);
    expect(JSON.stringify(body).match(/must be a duration/g)?.length).toBeGreaterThanOrEqual(4);
    expect(JSON.stringify(body)).not.toContain('type conversion');
  });

  test('a duration that is too large to count', async () => {
    expect((await trial.offer({ ...spec, expiresIn: `${'9'.repeat(31)}h` })).status).toBe(422);
  });
});

test.each(scopes)('a ServiceToken of scope %s takes the place of its scope, and no other', async (scope) => {
  const isOwn = (set: object): boolean => Object.keys(set).join() === placeOfScope[scope];
  expect(placeSets.filter(isOwn)).toHaveLength(1);
  for (const set of placeSets.filter(isOwn)) {
    expect(await trial.accepted({ scope, ...set })).toMatchObject({ scope, ...set });
  }
  for (const set of placeSets.filter((each) => !isOwn(each))) await trial.refused({ scope, ...set }, scopeRule);
});

describe('a ServiceToken may have', () => {
  test.each([
    ['the scope of a project, and may write', { scope: 'Project', projectRef, permission: 'ReadWrite' }],
    ['a life of an hour and a half', { ...spec, expiresIn: '1h30m' }],
    ['rotation within its life', rotating({ overlap: '0s', maxOverlap: '30m' }, { expiresIn: '24h1s' })],
    ['ten accounts and an end', { ...spec, serviceAccountNames: accounts(10), expiresIn: '24h' }],
    ['a Secret of another name', { ...spec, secretName: 'a.b-c' }],
  ])('%s', async (_, wanted) => {
    expect(await trial.accepted(wanted)).toMatchObject(wanted);
  });
});

describe('of a ServiceToken', () => {
  test.each([
    ['the scope', spec, { scope: 'Project', environmentRef: null, projectRef }, 'scope is immutable'],
    [
      'the organization',
      { scope: 'Organization', organization: 'acme' },
      { organization: 'other' },
      'organization is immutable',
    ],
    ['the project', { scope: 'Project', projectRef }, { projectRef: { name: 'other' } }, 'projectRef is immutable'],
    ['the environment', spec, { environmentRef: { name: 'other' } }, 'environmentRef is immutable'],
    ['whether it has accounts', spec, { serviceAccountNames: ['ci'] }, 'serviceAccountNames is immutable'],
    ['that it has accounts', account, { serviceAccountNames: null }, 'serviceAccountNames is immutable'],
    ['an account', account, { serviceAccountNames: ['ci', 'other'] }, 'serviceAccountNames is immutable'],
    ['the name of the Secret', spec, { secretName: 'other' }, 'spec.secretName is immutable'],
  ])('%s never changes', async (_, wanted, change, message) => {
    const name = await trial.made({ ...wanted, suspend: true });
    expectRefused(await trial.change(name, change), message);
  });

  test('all else may change, and the name of the Secret be written down', async () => {
    const name = await trial.made({ ...spec, suspend: true });
    const change = { permission: 'ReadWrite', expiresIn: '48h', rotation: { interval: '24h' }, secretName: name };
    expect(await trial.change(name, change)).toMatchObject({ status: 200, body: { spec: change } });
  });
});
