import { describe, expect, test } from '@jest/globals';
import type { MeView } from '../../../src/wire/me.ts';
import {
  type ScopeFlags,
  type ScopeSources,
  findScope,
  isNamed,
  resolveScope,
  scopeOfToken,
} from '../../../src/cli/settings/scope.ts';

type Slugs = Partial<ScopeFlags>;

const production = { organization: 'acme', project: 'shop', environment: 'production' };
const path = '/home/ada/shop/.keyframe.json';
const folder = { path, ...production };
const never = (): never => {
  throw new Error('asked without need');
};

function sources({
  variables = {},
  folder: file,
  token,
}: {
  readonly variables?: Slugs;
  readonly folder?: Slugs;
  readonly token?: Slugs;
} = {}): ScopeSources {
  return {
    variables,
    folder: () => (file === undefined ? undefined : ({ path, ...file } as ReturnType<ScopeSources['folder']>)),
    token: () => Promise.resolve(token),
  };
}

describe('the environment that a command means', () => {
  test.each([
    ['the folder says all', {}, production],
    ['a flag wins over the folder', { environment: 'dev' }, { ...production, environment: 'dev' }],
    ['a flag that says what the folder says changes nothing', { organization: 'acme' }, production],
    [
      'flags may say all',
      { organization: 'a', project: 'b', environment: 'c' },
      { organization: 'a', project: 'b', environment: 'c' },
    ],
  ])('%s', async (_, flags, expected) => {
    expect(await resolveScope(flags, sources({ folder }), 'environment')).toEqual(expected);
  });

  test.each([
    [
      'another organization takes no project from the folder',
      { organization: 'other' },
      '-p <project> -e <environment>, set KEYFRAME_PROJECT and KEYFRAME_ENV,',
    ],
    [
      'another project takes no environment from the folder',
      { project: 'other' },
      '-e <environment>, set KEYFRAME_ENV,',
    ],
  ])('%s', async (_, flags, missing) => {
    await expect(resolveScope(flags, sources({ folder }), 'environment')).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('is for acme/shop/production only'),
      next: [expect.stringContaining(`Add ${missing}`)],
    });
  });

  test('without any source the slugs that are missing are named', async () => {
    await expect(resolveScope({ project: 'shop' }, sources(), 'environment')).rejects.toThrow(
      'the organization and environment are missing: there is no .keyframe.json',
    );
    await expect(resolveScope({}, sources(), 'environment')).rejects.toThrow(
      'the organization, project and environment are missing: ',
    );
    const named = await resolveScope({ organization: 'acme' }, sources(), 'organization');
    expect(named.organization).toBe('acme');
  });
});

describe('the source of each slug', () => {
  const variables = { organization: 'acme', project: 'shop', environment: 'staging' };
  const all = { variables, folder, token: { ...production, environment: 'qa' } };

  test.each<[string, Slugs, Parameters<typeof sources>[0], readonly string[]]>([
    [
      'is the flag before all others',
      { environment: 'dev' },
      all,
      ['acme KEYFRAME_ORG', 'shop KEYFRAME_PROJECT', 'dev --env'],
    ],
    [
      'is the variable before the folder',
      {},
      all,
      ['acme KEYFRAME_ORG', 'shop KEYFRAME_PROJECT', 'staging KEYFRAME_ENV'],
    ],
    [
      'is the folder before the token',
      {},
      { folder, token: all.token },
      ['acme .keyframe.json', 'shop .keyframe.json', 'production .keyframe.json'],
    ],
    ['is the token if nothing else names it', {}, { token: all.token }, ['acme token', 'shop token', 'qa token']],
    [
      'is one variable in the project of the folder',
      {},
      { variables: { environment: 'staging' }, folder },
      ['acme .keyframe.json', 'shop .keyframe.json', 'staging KEYFRAME_ENV'],
    ],
    [
      'is the token below a folder of its organization',
      {},
      { folder: { organization: 'acme' }, token: all.token },
      ['acme .keyframe.json', 'shop token', 'qa token'],
    ],
    [
      'is the token of an organization for the organization alone',
      {},
      { token: { organization: 'acme' } },
      ['acme token'],
    ],
    [
      'is no variable of another project',
      { project: 'other' },
      { variables },
      ['acme KEYFRAME_ORG', 'other --project'],
    ],
    [
      'is a variable that names no project, below any project',
      { project: 'other' },
      { variables: { organization: 'acme', environment: 'staging' } },
      ['acme KEYFRAME_ORG', 'other --project', 'staging KEYFRAME_ENV'],
    ],
    [
      'is no folder below an organization of the variables',
      {},
      { variables: { organization: 'b' }, folder },
      ['b KEYFRAME_ORG'],
    ],
    ['is no token below another organization', { organization: 'b' }, { token: all.token }, ['b --org']],
  ])('%s', async (_, flags, given, expected) => {
    const found = await findScope(flags, sources(given), 'environment');
    expect(Object.values(found).map(({ slug, source }) => `${slug} ${source}`)).toEqual(expected);
  });

  test.each<[string, Slugs, Partial<ScopeSources>]>([
    ['a folder file or a token if the variables name everything', {}, { variables, folder: never, token: never }],
    ['a folder file or a token if flags name everything', variables, { folder: never, token: never }],
    ['a token if the folder names everything', {}, { folder: () => folder, token: never }],
  ])('never is %s', async (_, flags, given) => {
    await resolveScope(flags, { ...sources(), ...given }, 'environment');
    expect(isNamed(flags, { variables: {}, ...given }, 'environment')).toBe(given.folder === never);
  });

  test.each<[string, Slugs, Parameters<typeof sources>[0], string]>([
    [
      'the scope of a wide token',
      {},
      { token: { organization: 'acme' } },
      'the project and environment are missing: the scope of the token is acme',
    ],
    [
      'variables of another place',
      { organization: 'b' },
      { variables },
      'the project and environment are missing: KEYFRAME_PROJECT and KEYFRAME_ENV are for acme/shop/staging only',
    ],
    [
      'a file that names less',
      {},
      { folder: { organization: 'acme', project: 'shop' } },
      `the environment is missing: ${path} does not name it`,
    ],
  ])('is missing with a reason that names %s', async (_, flags, given, message) => {
    await expect(resolveScope(flags, sources(given), 'environment')).rejects.toThrow(message);
  });
});

test('a token of a user selects no place, and a service token the place of its scope', () => {
  const named = (slug: string): { id: string; slug: string } => ({ id: '', slug });
  const token = { type: 'service_token', organization: named('acme'), project: named('shop'), environment: null };
  expect(scopeOfToken(token as MeView)).toEqual({ organization: 'acme', project: 'shop', environment: undefined });
  expect(scopeOfToken({ type: 'user' } as MeView)).toBeUndefined();
});
