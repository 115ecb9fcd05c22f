import { describe, expect, test } from '@jest/globals';
import { ConfigError } from '../../../src/config/source.ts';
import { loadServerConfig, type ServerConfig } from '../../../src/config/server-config.ts';
import { makeAuthority as makeAuthorityOf, signLeaf } from '../../../src/crypto/authority.ts';
import { makeAuthority } from '../../support/fixtures/certificate.ts';

/** The variables of the port of controllers. */

const name = 'keyframe-cluster.keyframe.svc';
const dayMs = 24 * 3_600_000;
const now = Date.now();
const made = await makeAuthorityOf([name], now);
const authority = { cert: made.certificate, key: made.key.reveal() };
const old = await makeAuthorityOf([name], now - 4_000 * dayMs);
const leaf = await signLeaf(authority, [name], now);
const foreign = makeAuthority();

const files: Readonly<Record<string, string>> = {
  '/ca.crt': authority.cert,
  '/ca.key': authority.key,
  '/old.crt': old.certificate,
  '/old.key': old.key.reveal(),
  '/tls.crt': leaf.cert,
  '/tls.key': leaf.key,
  '/other.key': foreign.key,
  '/text': 'canary',
};

function load(variables: Readonly<Record<string, string>>, role: 'api' | 'controller' = 'api'): ServerConfig {
  const env = {
    KEYFRAME_DATABASE_URL: 'postgresql://a:b@c/d',
    KEYFRAME_ROOT_KEY: `first:${Buffer.alloc(32, 7).toString('base64')}`,
    KUBERNETES_SERVICE_HOST: '10.0.0.1',
    ...Object.fromEntries(Object.entries(variables).map(([variable, value]) => [`KEYFRAME_${variable}`, value])),
  };
  return loadServerConfig(role, { env, readTextFile: (path) => files[path] ?? '' });
}

function faultsOf(variables: Readonly<Record<string, string>>): readonly string[] {
  try {
    load(variables);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
}

const port = { CLUSTER_PORT: '8702' };
const ca = { CLUSTER_CA_FILE: '/ca.crt', CLUSTER_CA_KEY_FILE: '/ca.key' };
const pair = { CLUSTER_TLS_CERTIFICATE_FILE: '/tls.crt', CLUSTER_TLS_KEY_FILE: '/tls.key' };
const names = { CLUSTER_TLS_NAMES: name };

describe('there is', () => {
  test('no port for controllers by default, nor in the role controller', () => {
    expect(load({ ...ca, ...names }).clusterListener).toBeUndefined();
    expect(load({ ...port, ...ca, ...names }, 'controller').clusterListener).toBeUndefined();
  });

  test('one with a CA', () => {
    expect(load({ ...port, ...ca, ...names }).clusterListener).toEqual({
      port: 8702,
      names: [name],
      isAuthority: true,
      files: { certificateFile: '/ca.crt', keyFile: '/ca.key' },
    });
  });

  test('one with a certificate, with or without names', () => {
    const listener = { port: 8702, isAuthority: false, files: { certificateFile: '/tls.crt', keyFile: '/tls.key' } };
    expect(load({ ...port, ...pair, ...names }).clusterListener).toEqual({ ...listener, names: [name] });
    expect(load({ ...port, ...pair }).clusterListener).toEqual({ ...listener, names: [] });
  });
});

test.each([
  [{ ...port }, 'CLUSTER_PORT: needs KEYFRAME_CLUSTER_CA_FILE or KEYFRAME_CLUSTER_TLS_CERTIFICATE_FILE'],
  [{ ...port, ...ca, ...pair, ...names }, 'CLUSTER_PORT: needs only one of'],
  [{ ...ca, ...names, CLUSTER_PORT: '8701' }, 'CLUSTER_PORT: must differ from the ports'],
  [{ ...ca, ...names, CLUSTER_PORT: '8700' }, 'CLUSTER_PORT: must differ from the ports'],
  [{ ...port, ...names, CLUSTER_CA_FILE: '/ca.crt' }, 'CLUSTER_CA_FILE: needs KEYFRAME_CLUSTER_CA_KEY_FILE'],
  [{ ...port, CLUSTER_TLS_KEY_FILE: '/tls.key' }, 'CLUSTER_TLS_CERTIFICATE_FILE: needs KEYFRAME_CLUSTER_TLS_KEY_FILE'],
  [{ ...port, ...ca }, 'CLUSTER_CA_FILE: needs KEYFRAME_CLUSTER_TLS_NAMES'],
  [{ ...port, ...ca, ...names, CLUSTER_CA_FILE: '/text' }, 'CLUSTER_CA_FILE: names a file without a valid certificate'],
  [{ ...port, ...ca, ...names, CLUSTER_CA_KEY_FILE: '/other.key' }, 'another key than that of KEYFRAME_CLUSTER_CA_KEY'],
  [
    { ...port, ...names, CLUSTER_CA_FILE: '/tls.crt', CLUSTER_CA_KEY_FILE: '/tls.key' },
    'CLUSTER_CA_FILE: names a certificate that is not of a CA',
  ],
  [
    { ...port, ...names, CLUSTER_CA_FILE: '/old.crt', CLUSTER_CA_KEY_FILE: '/old.key' },
    'CLUSTER_CA_FILE: names a CA that expired at',
  ],
  [{ ...port, ...pair, CLUSTER_TLS_KEY_FILE: '/other.key' }, 'another key than that of KEYFRAME_CLUSTER_TLS_KEY_FILE'],
  [
    { ...port, ...pair, CLUSTER_TLS_NAMES: `${name},other.test` },
    'CLUSTER_TLS_CERTIFICATE_FILE: names a certificate that is not for other.test',
  ],
])('%j is refused', (variables, fault) => {
  const faults = faultsOf(variables);
  expect(faults).toEqual([expect.stringContaining(fault)]);
  expect(faults.join()).not.toMatch(/canary|PRIVATE/);
});
