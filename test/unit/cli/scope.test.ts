import { describe, expect, test } from '@jest/globals';
import { resolveScope } from '../../../src/cli/settings/scope.ts';

const folder = {
  path: '/home/ada/shop/.keyframe.json',
  organization: 'acme',
  project: 'shop',
  environment: 'production',
};

describe('the environment that a command means', () => {
  test.each([
    ['the folder says all', {}, { organization: 'acme', project: 'shop', environment: 'production' }],
    [
      'a flag wins over the folder',
      { environment: 'dev' },
      { organization: 'acme', project: 'shop', environment: 'dev' },
    ],
    [
      'a flag that says what the folder says changes nothing',
      { organization: 'acme' },
      { organization: 'acme', project: 'shop', environment: 'production' },
    ],
    [
      'flags may say all',
      { organization: 'a', project: 'b', environment: 'c' },
      { organization: 'a', project: 'b', environment: 'c' },
    ],
  ])('%s', (_, flags, expected) => {
    expect(resolveScope(flags, folder, 'environment')).toEqual(expected);
  });

  test.each([
    [
      'another organization takes no project from the folder',
      { organization: 'other' },
      '-p <project> -e <environment>',
    ],
    ['another project takes no environment from the folder', { project: 'other' }, '-e <environment>'],
  ])('%s', (_, flags, missing) => {
    expect(() => resolveScope(flags, folder, 'environment')).toThrow(
      expect.objectContaining({
        exitCode: 2,
        message: expect.stringContaining('is for acme/shop/production only'),
        next: [expect.stringContaining(`Add ${missing},`)],
      }),
    );
  });

  test('without a folder the flags that are missing are named', () => {
    const attempt = (): unknown => resolveScope({ project: 'shop' }, undefined, 'environment');
    expect(attempt).toThrow('the organization and environment are missing: there is no .keyframe.json');
    expect(() => resolveScope({}, undefined, 'environment')).toThrow(
      'the organization, project and environment are missing: ',
    );
    expect(resolveScope({ organization: 'acme' }, undefined, 'organization').organization).toBe('acme');
  });
});
