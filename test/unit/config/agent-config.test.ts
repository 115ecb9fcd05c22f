import { describe, expect, test } from '@jest/globals';
import { loadControllerConfig } from '../../../src/config/agent-config.ts';
import { loadServerConfig } from '../../../src/config/server-config.ts';
import { ConfigError, type ConfigSource } from '../../../src/config/source.ts';
import { makeAuthority } from '../../support/fixtures/certificate.ts';

/** The configuration of a controller that works through a server in another process. */

const files: Record<string, string> = {
  '/token': 'kf_cls_canary',
  '/ca.crt': makeAuthority().certificate,
  '/bad': 'x',
};
const complete = {
  KEYFRAME_SERVER_URL: 'https://keyframe.example.com',
  KEYFRAME_CLUSTER_TOKEN_FILE: '/token',
  KUBERNETES_SERVICE_HOST: '10.0.0.1',
};
const rootKey = `first:${Buffer.alloc(32, 7).toString('base64')}`;

function source(changed: Record<string, string | undefined>): ConfigSource {
  return {
    env: { ...complete, ...changed },
    readTextFile(path) {
      const text = files[path];
      if (text === undefined) throw Object.assign(new Error(`no such file: ${path}`), { code: 'ENOENT' });
      return text;
    },
  };
}

function faults(changed: Record<string, string | undefined>): readonly string[] {
  try {
    loadControllerConfig(source(changed));
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
}

test('an address and a token are all that it needs', () => {
  expect(loadControllerConfig(source({ KEYFRAME_CLUSTER_NAME: 'fra-1', KEYFRAME_METRICS_PORT: '9000' }))).toMatchObject(
    {
      role: 'controller',
      metricsPort: 9000,
      server: { url: 'https://keyframe.example.com', caFile: undefined, tokenFile: '/token' },
      controller: { clusterName: 'fra-1', watchNamespaces: [], rollouts: false },
    },
  );
});

test('the authorities of the server can be given', () => {
  const { server } = loadControllerConfig(source({ KEYFRAME_SERVER_CA_FILE: '/ca.crt' })) as { server?: unknown };
  expect(server).toMatchObject({ caFile: '/ca.crt' });
});

describe('it is refused', () => {
  test.each<[what: string, changed: Record<string, string | undefined>, fault: RegExp]>([
    [
      'with the address of the database',
      { KEYFRAME_DATABASE_URL: 'postgresql://db/keyframe' },
      /^KEYFRAME_DATABASE_URL: must not be set with KEYFRAME_SERVER_URL/,
    ],
    ['with its file', { KEYFRAME_DATABASE_URL_FILE: '/token' }, /KEYFRAME_DATABASE_URL_FILE: must not be set/],
    [
      'with the direct address',
      { KEYFRAME_DATABASE_DIRECT_URL: 'postgresql://db/keyframe' },
      /^KEYFRAME_DATABASE_DIRECT_URL: must not be set/,
    ],
    [
      'with the authorities of the database',
      { KEYFRAME_DATABASE_CA_FILE: '/ca.crt' },
      /^KEYFRAME_DATABASE_CA_FILE: must not be set/,
    ],
    ['with a root key', { KEYFRAME_ROOT_KEY: rootKey }, /^KEYFRAME_ROOT_KEY: must not be set/],
    [
      'without a token',
      { KEYFRAME_CLUSTER_TOKEN_FILE: undefined },
      /^KEYFRAME_CLUSTER_TOKEN_FILE: is required with KEYFRAME_SERVER_URL/,
    ],
    [
      'without the file of the token',
      { KEYFRAME_CLUSTER_TOKEN_FILE: '/absent' },
      /^KEYFRAME_CLUSTER_TOKEN_FILE: names a file that cannot be read/,
    ],
    [
      'with authorities that are none',
      { KEYFRAME_SERVER_CA_FILE: '/bad' },
      /^KEYFRAME_SERVER_CA_FILE: names a file without a valid certificate/,
    ],
    ['by http', { KEYFRAME_SERVER_URL: 'http://keyframe.example.com' }, /^KEYFRAME_SERVER_URL: must be https/],
    ['with a path', { KEYFRAME_SERVER_URL: 'https://keyframe.example.com/api' }, /^KEYFRAME_SERVER_URL: must be https/],
    [
      'outside a cluster',
      { KUBERNETES_SERVICE_HOST: undefined },
      /^KEYFRAME_KUBECONFIG_FILE: is required outside a cluster/,
    ],
  ])('%s', (_what, changed, fault) => {
    const found = faults(changed);
    expect(found.filter((text) => fault.test(text))).toHaveLength(1);
    expect(found.join()).not.toContain('canary');
  });

  test('with its files, but without the address', () => {
    const given = { KEYFRAME_DATABASE_URL: 'postgresql://db/keyframe', KEYFRAME_ROOT_KEY: rootKey };
    expect(faults({ ...given, KEYFRAME_SERVER_URL: undefined, KEYFRAME_SERVER_CA_FILE: '/ca.crt' })).toEqual([
      'KEYFRAME_SERVER_CA_FILE: needs KEYFRAME_SERVER_URL',
      'KEYFRAME_CLUSTER_TOKEN_FILE: needs KEYFRAME_SERVER_URL',
    ]);
  });
});

test('http is for this machine only', () => {
  expect(faults({ KEYFRAME_SERVER_URL: 'http://127.0.0.1:8700' })).toEqual([]);
});

test('a role with the database needs it, whatever the address of a server is', () => {
  for (const role of ['all', 'api'] as const) {
    expect(() => loadServerConfig(role, source({}))).toThrow('KEYFRAME_DATABASE_URL: is required');
  }
});
