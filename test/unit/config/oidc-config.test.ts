import { describe, expect, test } from '@jest/globals';
import { loadServerConfig } from '../../../src/config/server-config.ts';
import { ConfigError } from '../../../src/config/source.ts';
import { makeAuthority } from '../../support/fixtures/certificate.ts';

const server = {
  KEYFRAME_DATABASE_URL: 'postgresql://keyframe:canary@db/keyframe',
  KEYFRAME_ROOT_KEY: `first:${Buffer.alloc(32, 7).toString('base64')}`,
};

const complete = {
  KEYFRAME_PUBLIC_URL: 'https://keyframe.example.com/',
  KEYFRAME_OIDC_ISSUER: 'https://id.example.com/realms/main',
  KEYFRAME_OIDC_CLIENT_ID: 'keyframe',
  KEYFRAME_OIDC_CLIENT_SECRET: 'canary',
};

const files: Readonly<Record<string, string>> = {
  '/secret': 'canary\n',
  '/ca.crt': makeAuthority().certificate,
  '/no-ca.crt': 'canary',
};

type Variables = Readonly<Record<string, string | undefined>>;

function load(changed: Variables, before: Variables = complete) {
  return loadServerConfig('api', {
    env: { ...server, ...before, ...changed },
    readTextFile: (path) => files[path] ?? '',
  });
}

function faultsOf(changed: Variables, before?: Variables): readonly string[] {
  try {
    load(changed, before);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
}

describe('sign-in with OpenID Connect', () => {
  test('is off without an issuer, also with a public address', () => {
    expect(load({}, {}).oidc).toBeUndefined();
    expect(load({}, { KEYFRAME_PUBLIC_URL: 'https://keyframe.example.com' }).oidc).toBeUndefined();
  });

  test('has defaults for what is not needed', () => {
    const { oidc } = load({});
    expect(oidc).toMatchObject({
      publicUrl: 'https://keyframe.example.com',
      issuer: 'https://id.example.com/realms/main',
      clientId: 'keyframe',
      name: 'OpenID Connect',
      scopes: 'openid email profile',
      groupsClaim: 'groups',
      groupsMaxAgeMs: 24 * 3_600_000,
    });
    expect(oidc?.clientSecret.reveal()).toBe('canary');
    expect(JSON.stringify(oidc)).not.toContain('canary');
  });

  test('is read in full', () => {
    const { oidc } = load({
      KEYFRAME_PUBLIC_URL: 'http://localhost:8700',
      KEYFRAME_OIDC_ISSUER: 'http://127.0.0.1:8080',
      KEYFRAME_OIDC_CLIENT_SECRET: undefined,
      KEYFRAME_OIDC_CLIENT_SECRET_FILE: '/secret',
      KEYFRAME_OIDC_CA_FILE: '/ca.crt',
      KEYFRAME_OIDC_NAME: 'Example Login',
      KEYFRAME_OIDC_SCOPES: 'openid groups',
      KEYFRAME_OIDC_GROUPS_CLAIM: 'none',
      KEYFRAME_OIDC_GROUPS_MAX_AGE: '8h',
    });
    expect(oidc).toMatchObject({
      publicUrl: 'http://localhost:8700',
      issuer: 'http://127.0.0.1:8080',
      ca: files['/ca.crt'],
      name: 'Example Login',
      scopes: 'openid groups',
      groupsClaim: null,
      groupsMaxAgeMs: 8 * 3_600_000,
    });
    expect(oidc?.clientSecret.reveal()).toBe('canary');
  });

  test.each(Object.keys(complete).filter((name) => name !== 'KEYFRAME_OIDC_ISSUER'))(
    'needs %s with an issuer',
    (name) => {
      expect(faultsOf({ [name]: undefined })).toEqual([`${name}: is required with KEYFRAME_OIDC_ISSUER`]);
    },
  );

  test.each(['CLIENT_ID', 'CLIENT_SECRET', 'NAME', 'GROUPS_CLAIM'])('refuses OIDC_%s without an issuer', (name) => {
    expect(faultsOf({ [`KEYFRAME_OIDC_${name}`]: 'x' }, {})).toEqual([
      `KEYFRAME_OIDC_${name}: needs KEYFRAME_OIDC_ISSUER`,
    ]);
  });

  test.each([
    ['PUBLIC_URL', 'http://keyframe.example.com', 'must be https://'],
    ['PUBLIC_URL', 'https://keyframe.example.com/path', 'must be https://'],
    ['PUBLIC_URL', 'https://user:canary@keyframe.example.com', 'must be https://'],
    ['PUBLIC_URL', 'keyframe.example.com', 'must be https://'],
    ['OIDC_ISSUER', 'http://id.example.com', 'must be the URL of an issuer'],
    ['OIDC_ISSUER', 'https://id.example.com/.well-known/openid-configuration', 'must be the URL of an issuer'],
    ['OIDC_ISSUER', 'https://id.example.com?canary', 'must be the URL of an issuer'],
    ['OIDC_SCOPES', 'email profile', 'must be scopes'],
    ['OIDC_SCOPES', 'openid  email', 'must be scopes'],
    ['OIDC_NAME', 'two\nlines', 'must be one line'],
    ['OIDC_GROUPS_MAX_AGE', '10s', 'must be a duration from 1m to 720h'],
    ['OIDC_CA_FILE', '/no-ca.crt', 'names a file without a valid certificate'],
  ])('refuses KEYFRAME_%s of %p', (name, text, fault) => {
    const [found = '', ...others] = faultsOf({ [`KEYFRAME_${name}`]: text });
    expect([found.startsWith(`KEYFRAME_${name}: ${fault}`), found.includes('canary'), others]).toEqual([
      true,
      false,
      [],
    ]);
  });
});
