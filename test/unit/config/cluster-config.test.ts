import { expect, test } from '@jest/globals';
import { ConfigError } from '../../../src/config/source.ts';
import { loadInitConfig, loadPreDeleteConfig, loadSmokeTestConfig } from '../../../src/config/cluster-config.ts';

const pod = { KUBERNETES_SERVICE_HOST: '10.0.0.1' };

function source(variables: Readonly<Record<string, string>>, env: Readonly<Record<string, string>> = pod) {
  const named = Object.entries(variables).map(([name, value]) => [`KEYFRAME_${name}`, value]);
  return {
    env: { ...env, ...(Object.fromEntries(named) as Record<string, string>) },
    readTextFile: (): string => 'kf_pat_canary\n',
  };
}

function faultsOf(load: () => unknown): readonly string[] {
  try {
    load();
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
}

test('init makes what is named, and nothing else', () => {
  const rootKeyAlone = loadInitConfig(source({ INIT_ROOT_KEY_SECRET: 'keys/root.key' }));
  expect(rootKeyAlone).toEqual({
    logLevel: 'info',
    kubeconfigFile: undefined,
    namespace: undefined,
    rootKey: { secret: 'keys', key: 'root.key' },
    postgres: undefined,
    postgresRun: undefined,
    admin: undefined,
    clusterToken: undefined,
    clusterCa: undefined,
  });
  const others = loadInitConfig(
    source({
      NAMESPACE: 'system',
      INIT_POSTGRES_SECRET: 'db',
      INIT_POSTGRES_RUN_SECRET: 'run',
      INIT_POSTGRES_HOST: 'db.system',
      INIT_ADMIN_SECRET: 'admin',
      BOOTSTRAP_ADMIN_EMAIL: 'a@b',
      INIT_CLUSTER_TOKEN_SECRET: 'cluster',
      INIT_CLUSTER_CA_SECRET: 'ca',
      CLUSTER_TLS_NAMES: 'cluster.system.svc, cluster',
    }),
  );
  expect(others).toMatchObject({
    namespace: 'system',
    rootKey: undefined,
    postgres: { secret: 'db', host: 'db.system' },
    postgresRun: { secret: 'run', host: 'db.system' },
    admin: { secret: 'admin', email: 'a@b' },
    clusterToken: { secret: 'cluster' },
    clusterCa: { secret: 'ca', names: ['cluster.system.svc', 'cluster'] },
  });
});

test.each([
  [{}, 'KEYFRAME_INIT_ROOT_KEY_SECRET: or another KEYFRAME_INIT_…_SECRET is required'],
  [{ INIT_ROOT_KEY_SECRET: 'canary' }, 'KEYFRAME_INIT_ROOT_KEY_SECRET: must be the name of a Secret and the key in it'],
  [{ INIT_ROOT_KEY_SECRET: 'canary/a/b' }, 'KEYFRAME_INIT_ROOT_KEY_SECRET: must be'],
  [{ INIT_ROOT_KEY_SECRET: 'Canary/a' }, 'KEYFRAME_INIT_ROOT_KEY_SECRET: must be'],
  [{ INIT_POSTGRES_SECRET: 'a' }, 'KEYFRAME_INIT_POSTGRES_SECRET: needs KEYFRAME_INIT_POSTGRES_HOST'],
  [{ INIT_POSTGRES_RUN_SECRET: 'a' }, 'KEYFRAME_INIT_POSTGRES_RUN_SECRET: needs KEYFRAME_INIT_POSTGRES_HOST'],
  [{ INIT_ROOT_KEY_SECRET: 'a/b', INIT_POSTGRES_HOST: 'a' }, 'KEYFRAME_INIT_POSTGRES_SECRET: needs'],
  [{ INIT_POSTGRES_SECRET: 'a', INIT_POSTGRES_HOST: 'canary:5432' }, 'KEYFRAME_INIT_POSTGRES_HOST: must be a name'],
  [{ INIT_CLUSTER_CA_SECRET: 'a' }, 'KEYFRAME_INIT_CLUSTER_CA_SECRET: needs KEYFRAME_CLUSTER_TLS_NAMES'],
  [
    { INIT_CLUSTER_CA_SECRET: 'a', CLUSTER_TLS_NAMES: 'Canary' },
    'KEYFRAME_CLUSTER_TLS_NAMES: must be DNS names of small letters',
  ],
  [{ INIT_ADMIN_SECRET: 'a' }, 'KEYFRAME_INIT_ADMIN_SECRET: needs KEYFRAME_BOOTSTRAP_ADMIN_EMAIL'],
  [
    { INIT_ADMIN_SECRET: 'a', BOOTSTRAP_ADMIN_EMAIL: 'Group:a@b' },
    'KEYFRAME_BOOTSTRAP_ADMIN_EMAIL: must be an e-mail address, and not begin with group:',
  ],
  [{ INIT_ROOT_KEY_SECRET: 'a/b', INIT_ROOTKEY_SECRET: 'a' }, 'KEYFRAME_INIT_ROOTKEY_SECRET: is not a variable'],
])('init refuses %j', (variables, fault) => {
  const faults = faultsOf(() => loadInitConfig(source(variables)));
  expect(faults).toEqual([expect.stringContaining(fault)]);
  expect(faults.join()).not.toMatch(/canary/i);
});

test('pre-delete reads what the controllers read', () => {
  expect(loadPreDeleteConfig(source({ WATCH_NAMESPACES: 'a,b', NAMESPACE: 'c', SHUTDOWN_DELAY: '5s' }))).toMatchObject({
    watchNamespaces: ['a', 'b'],
    namespace: 'c',
    shutdownDelayMs: 5000,
  });
  expect(loadPreDeleteConfig(source({}))).toMatchObject({
    watchNamespaces: [],
    namespace: undefined,
    shutdownDelayMs: 0,
  });
  expect(faultsOf(() => loadPreDeleteConfig(source({ WATCH_NAMESPACES: 'A' })))).toHaveLength(1);
});

test('the smoke test needs an address and a token, which may be in a file', () => {
  const config = loadSmokeTestConfig(source({ SMOKE_TEST_URL: 'http://api:80/', SMOKE_TEST_TOKEN_FILE: '/token' }));
  expect(config.url).toBe('http://api:80');
  expect(config.token.reveal()).toBe('kf_pat_canary');
  expect(JSON.stringify(config)).not.toContain('canary');
  expect(faultsOf(() => loadSmokeTestConfig(source({})))).toHaveLength(2);
  const wrong = source({ SMOKE_TEST_URL: 'canary', SMOKE_TEST_TOKEN: 'kf' });
  expect(faultsOf(() => loadSmokeTestConfig(wrong))).toEqual([
    expect.stringContaining('KEYFRAME_SMOKE_TEST_URL: must be a URL'),
  ]);
});

test('outside a cluster each of them asks for a kubeconfig', () => {
  for (const load of [loadInitConfig, loadPreDeleteConfig, loadSmokeTestConfig]) {
    const variables = { INIT_ROOT_KEY_SECRET: 'a/b', SMOKE_TEST_URL: 'http://a', SMOKE_TEST_TOKEN: 'kf' };
    const faults = faultsOf(() => load(source(variables, {})));
    expect(faults).toEqual(['KEYFRAME_KUBECONFIG_FILE: is required outside a cluster: the path of a kubeconfig']);
  }
});
