import { describe, expect, test } from '@jest/globals';
import { commandVariables } from '../../../src/lib/command-variables.ts';
import { makeAuthority } from '../../support/fixtures/certificate.ts';
import { loadMigrateConfig, loadRecoveredConfig } from '../../../src/config/database-config.ts';
import { loadServerConfig } from '../../../src/config/server-config.ts';
import { ConfigError, type ConfigSource } from '../../../src/config/source.ts';

const rootKey = `first:${Buffer.alloc(32, 7).toString('base64')}`;
const databaseUrl = 'postgresql://keyframe:canary-password@db:5432/keyframe';
const complete = {
  KEYFRAME_DATABASE_URL: databaseUrl,
  KEYFRAME_ROOT_KEY: rootKey,
  KUBERNETES_SERVICE_HOST: '10.0.0.1',
  PATH: '/usr/bin',
};

const authority = makeAuthority().certificate;

function source(env: ConfigSource['env'], files: Record<string, string> = {}): ConfigSource {
  return {
    env,
    readTextFile(path) {
      const text = files[path];
      if (text === undefined) throw Object.assign(new Error(`no such file: ${path}`), { code: 'ENOENT' });
      return text;
    },
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

/** The faults of a complete environment with these variables set, or without those that are undefined. */
function faults(changed: Record<string, string | undefined>, files: Record<string, string> = {}): readonly string[] {
  const env = Object.fromEntries(
    Object.entries({ ...complete, ...changed }).filter(([, value]) => value !== undefined),
  );
  return faultsOf(() => loadServerConfig('all', source(env, files)));
}

describe('a complete environment', () => {
  test('gives the defaults of everything else', () => {
    const config = loadServerConfig('all', source(complete));
    expect(config).toMatchObject({
      role: 'all',
      logLevel: 'info',
      host: undefined,
      port: 8700,
      metricsPort: 8701,
      trustedProxies: [],
      rateLimits: { requests: 6000, failedAuthentications: 60, trafficBytes: 1024 * 1024 * 1024 },
      maxConnectionsPerAddress: 1024,
      growthLimits: {
        environmentBytesPerDay: 512 * 1024 * 1024,
        callerBytesPerDay: 1024 * 1024 * 1024,
        snapshotsPerEnvironment: 2000,
      },
      shutdownDelayMs: 0,
      bootstrapAdmin: undefined,
      controller: {
        kubeconfigFile: undefined,
        watchNamespaces: [],
        namespace: undefined,
        resyncIntervalMs: 600_000,
        rollouts: false,
        targetMetadataPrefixes: [],
        rolloutNamespaces: [],
      },
    });
    expect(config.databaseUrl.reveal()).toBe(databaseUrl);
    expect(config.databaseDirectUrl.reveal()).toBe(databaseUrl);
    expect(config.rootKeys.ids).toEqual(['first']);
  });

  test('is read in full', () => {
    const config = loadServerConfig(
      'all',
      source(
        {
          ...complete,
          KEYFRAME_DATABASE_DIRECT_URL: 'postgres://direct/keyframe',
          KEYFRAME_HOST: '127.0.0.1',
          KEYFRAME_PORT: '0',
          KEYFRAME_METRICS_PORT: '0',
          KEYFRAME_TRUSTED_PROXIES: '10.0.0.0/8, 192.0.2.1,2001:db8::/32,10.0.0.0/8',
          KEYFRAME_RATE_LIMIT_REQUESTS: '0',
          KEYFRAME_RATE_LIMIT_FAILED_AUTHENTICATIONS: '1000000',
          KEYFRAME_RATE_LIMIT_TRAFFIC_MIB: '3',
          KEYFRAME_MAX_CONNECTIONS_PER_ADDRESS: '0',
          KEYFRAME_WRITE_LIMIT_ENVIRONMENT: '64',
          KEYFRAME_WRITE_LIMIT_CALLER: '0',
          KEYFRAME_SNAPSHOT_LIMIT: '300',
          KEYFRAME_SHUTDOWN_DELAY: '5s',
          KEYFRAME_LOG_LEVEL: 'debug',
          KEYFRAME_KUBECONFIG_FILE: '/kubeconfig',
          KEYFRAME_WATCH_NAMESPACES: 'team-a, team-b,team-a',
          KEYFRAME_NAMESPACE: 'keyframe',
          KEYFRAME_CLUSTER_NAME: 'Paris-1.prod',
          KEYFRAME_RESYNC_INTERVAL: '1m30s',
          KEYFRAME_ROLLOUTS: 'true',
          KEYFRAME_TARGET_METADATA_PREFIXES: 'app, example.com/,app',
          KEYFRAME_ROLLOUT_NAMESPACES: 'team-b',
          KEYFRAME_BOOTSTRAP_ADMIN_EMAIL: 'admin@example.com',
          KEYFRAME_BOOTSTRAP_TOKEN_FILE: '/token',
        },
        { '/kubeconfig': 'apiVersion: v1' },
      ),
    );
    expect(config).toMatchObject({
      logLevel: 'debug',
      host: '127.0.0.1',
      port: 0,
      metricsPort: 0,
      trustedProxies: ['10.0.0.0/8', '192.0.2.1', '2001:db8::/32'],
      rateLimits: { requests: 0, failedAuthentications: 1_000_000, trafficBytes: 3 * 1024 * 1024 },
      maxConnectionsPerAddress: 0,
      growthLimits: {
        environmentBytesPerDay: 64 * 1024 * 1024,
        callerBytesPerDay: 0,
        snapshotsPerEnvironment: 300,
      },
      shutdownDelayMs: 5000,
      bootstrapAdmin: { email: 'admin@example.com', tokenFile: '/token' },
      controller: {
        kubeconfigFile: '/kubeconfig',
        watchNamespaces: ['team-a', 'team-b'],
        namespace: 'keyframe',
        clusterName: 'Paris-1.prod',
        resyncIntervalMs: 90_000,
        rollouts: true,
        targetMetadataPrefixes: ['app', 'example.com/'],
        rolloutNamespaces: ['team-b'],
      },
    });
    expect(config.databaseDirectUrl.reveal()).toBe('postgres://direct/keyframe');
  });

  test('shows no secret when it is printed', () => {
    const config = loadServerConfig('all', source(complete));
    expect(JSON.stringify(config)).not.toMatch(/canary|BwcHBw/);
  });

  test('needs no cluster for the role api', () => {
    const { KUBERNETES_SERVICE_HOST: _, ...outside } = complete;
    expect(faultsOf(() => loadServerConfig('api', source(outside)))).toEqual([]);
    expect(faultsOf(() => loadServerConfig('controller', source(outside)))).toEqual([
      'KEYFRAME_KUBECONFIG_FILE: is required outside a cluster: the path of a kubeconfig; or run the role api alone',
    ]);
  });

  test('needs no root key to migrate', () => {
    const config = loadMigrateConfig(source({ KEYFRAME_DATABASE_URL: databaseUrl }));
    expect(config.databaseDirectUrl.reveal()).toBe(databaseUrl);
    expect(config.databaseWaitMs).toBe(0);
    const waiting = (text: string): ConfigSource =>
      source({ KEYFRAME_DATABASE_URL: databaseUrl, KEYFRAME_DATABASE_WAIT: text });
    expect(loadMigrateConfig(waiting('10m')).databaseWaitMs).toBe(600_000);
    expect(faultsOf(() => loadMigrateConfig(waiting('601s')))).toEqual([
      'KEYFRAME_DATABASE_WAIT: must be a duration from 0s to 10m',
    ]);
    expect(faultsOf(() => loadMigrateConfig(source({})))).toEqual([
      'KEYFRAME_DATABASE_URL: is required (or KEYFRAME_DATABASE_URL_FILE)',
    ]);
  });

  test.each([
    ['postgresql://db/keyframe', 'names no role'],
    ['postgresql://canary%zz:p@db/keyframe', 'must be a URL such as'],
    [databaseUrl, 'names the role that migrates'],
  ])('refuses the role of the servers in %s', (run, fault) => {
    const variables = { KEYFRAME_DATABASE_URL: databaseUrl, KEYFRAME_DATABASE_RUN_URL: run };
    const [found = '', ...others] = faultsOf(() => loadMigrateConfig(source(variables)));
    expect([found.startsWith(`KEYFRAME_DATABASE_RUN_URL: ${fault}`), others]).toEqual([true, []]);
  });
});

describe('secrets in files', () => {
  const { KEYFRAME_DATABASE_URL: _url, KEYFRAME_ROOT_KEY: _key, ...bare } = complete;
  const files = { '/url': `${databaseUrl}\n`, '/key': `${rootKey}\n`, '/empty': ' \n' };

  test('are read without the line break at their end', () => {
    const env = { ...bare, KEYFRAME_DATABASE_URL_FILE: '/url', KEYFRAME_ROOT_KEY_FILE: '/key' };
    const config = loadServerConfig('all', source(env, files));
    expect(config.databaseUrl.reveal()).toBe(databaseUrl);
    expect(config.rootKeys.ids).toEqual(['first']);
  });

  test.each([
    [
      'beside the variable',
      { KEYFRAME_ROOT_KEY_FILE: '/key' },
      'KEYFRAME_ROOT_KEY: is set and so is KEYFRAME_ROOT_KEY_FILE; keep one of them',
    ],
    [
      'that are not there',
      { KEYFRAME_ROOT_KEY: undefined, KEYFRAME_ROOT_KEY_FILE: '/gone' },
      'KEYFRAME_ROOT_KEY_FILE: names a file that cannot be read (ENOENT)',
    ],
    [
      'that are empty',
      { KEYFRAME_DATABASE_URL: undefined, KEYFRAME_DATABASE_URL_FILE: '/empty' },
      'KEYFRAME_DATABASE_URL_FILE: names an empty file',
    ],
  ])('are refused %s', (_case, changed, fault) => {
    expect(faults(changed, files)).toEqual([fault]);
  });
});

describe('the authorities of PostgreSQL', () => {
  const given = { ...complete, KEYFRAME_DATABASE_CA_FILE: '/ca.crt' };

  test('are a file with one certificate or several, for every role that connects', () => {
    const files = { '/ca.crt': `# two\n${authority}${authority}` };
    expect(loadServerConfig('all', source(given, files)).databaseCaFile).toBe('/ca.crt');
    expect(loadMigrateConfig(source(given, files)).databaseCaFile).toBe('/ca.crt');
    expect(loadRecoveredConfig(source(given, files)).databaseCaFile).toBe('/ca.crt');
    expect(loadMigrateConfig(source(complete)).databaseCaFile).toBeUndefined();
  });

  test.each([
    ['no file', {}, {}, 'KEYFRAME_DATABASE_CA_FILE: names a file that cannot be read (ENOENT)'],
    ['no certificate', {}, { '/ca.crt': databaseUrl }, 'names a file without a valid certificate in PEM'],
    ['a broken one', {}, { '/ca.crt': authority.replace(/\nM.*\n/, '\nMAAA\n') }, 'a valid certificate in PEM'],
    [
      'an address without TLS',
      { KEYFRAME_DATABASE_URL: `${databaseUrl}?sslmode=disable` },
      { '/ca.crt': authority },
      'KEYFRAME_DATABASE_URL: forbids a verified connection, which KEYFRAME_DATABASE_CA_FILE asks for',
    ],
    [
      'a direct address without verification',
      { KEYFRAME_DATABASE_DIRECT_URL: `${databaseUrl}?sslmode=no-verify` },
      { '/ca.crt': authority },
      'KEYFRAME_DATABASE_DIRECT_URL: forbids a verified connection',
    ],
  ])('with %s are refused', (_, env, files, fault) => {
    const found = faultsOf(() => loadServerConfig('all', source({ ...given, ...env }, files)));
    expect(found).toEqual([expect.stringContaining(fault)]);
    expect(found.join()).not.toContain('canary');
  });
});

describe('one fault is reported in one sentence', () => {
  test.each<[string, Record<string, string | undefined>, string]>([
    [
      'no database',
      { KEYFRAME_DATABASE_URL: undefined },
      'KEYFRAME_DATABASE_URL: is required (or KEYFRAME_DATABASE_URL_FILE)',
    ],
    ['no root key', { KEYFRAME_ROOT_KEY: undefined }, 'KEYFRAME_ROOT_KEY: is required (or KEYFRAME_ROOT_KEY_FILE)'],
    [
      'another database',
      { KEYFRAME_DATABASE_URL: 'mysql://canary@db/x' },
      'KEYFRAME_DATABASE_URL: must be a URL such as',
    ],
    ['a password with a slash', { KEYFRAME_DATABASE_URL: 'postgresql://u:can/ary@db:x/y' }, 'percent-encoded'],
    ['a password with a bare %', { KEYFRAME_DATABASE_URL: 'postgresql://u:canary%zz@db/y' }, 'percent-encoded'],
    ['a database with a bare %', { KEYFRAME_DATABASE_URL: 'postgresql://u:p@db/canary%1' }, 'percent-encoded'],
    ['a malformed root key', { KEYFRAME_ROOT_KEY: 'first:canary' }, 'KEYFRAME_ROOT_KEY: root keys: line 1 has a key'],
    ['a host with a port', { KEYFRAME_HOST: 'canary:80' }, 'KEYFRAME_HOST: must be a host name or an IP address'],
    ['a port that is a word', { KEYFRAME_PORT: 'canary' }, 'KEYFRAME_PORT: must be a port from 0 to 65535'],
    ['a port too high', { KEYFRAME_METRICS_PORT: '65536' }, 'KEYFRAME_METRICS_PORT: must be a port from 0 to 65535'],
    ['one port for both', { KEYFRAME_PORT: '8701' }, 'KEYFRAME_METRICS_PORT: must differ from the port of the API'],
    [
      'a log level',
      { KEYFRAME_LOG_LEVEL: 'canary' },
      'KEYFRAME_LOG_LEVEL: must be one of debug, info, warn, error, silent',
    ],
    [
      'a kubeconfig that is not there',
      { KEYFRAME_KUBECONFIG_FILE: '/canary' },
      'names a file that cannot be read (ENOENT)',
    ],
    [
      'the beginning of a label',
      { KEYFRAME_TARGET_METADATA_PREFIXES: 'example.com/,*' },
      'KEYFRAME_TARGET_METADATA_PREFIXES: must be beginnings of label names',
    ],
    [
      'a namespace',
      { KEYFRAME_WATCH_NAMESPACES: 'a,Canary' },
      'KEYFRAME_WATCH_NAMESPACES: must be names of namespaces',
    ],
    ["the controller's own namespace", { KEYFRAME_NAMESPACE: 'Canary' }, 'must be the name of a namespace'],
    ['a duration without a unit', { KEYFRAME_RESYNC_INTERVAL: '10' }, 'must be a duration from 1s to 24h'],
    ['a duration of nothing', { KEYFRAME_RESYNC_INTERVAL: '0s' }, 'must be a duration from 1s to 24h'],
    ['without restarts', { KEYFRAME_ROLLOUT_NAMESPACES: 'team-a' }, 'needs KEYFRAME_ROLLOUTS=true'],
    [
      'not watched',
      { KEYFRAME_ROLLOUTS: 'true', KEYFRAME_ROLLOUT_NAMESPACES: 'team-a,b', KEYFRAME_WATCH_NAMESPACES: 'b' },
      'has team-a, which KEYFRAME_WATCH_NAMESPACES lacks',
    ],
    ['neither true nor false', { KEYFRAME_ROLLOUTS: 'yes' }, 'must be true or false'],
    ['a duration of days', { KEYFRAME_RESYNC_INTERVAL: '25h' }, 'must be a duration from 1s to 24h'],
    ...[
      'true',
      '1',
      'loopback',
      '10.0.0.0/33',
      '0.0.0.0/0',
      '10.0.0.0/08',
      '10.0.0.0/255.0.0.0',
      '::ffff:10.0.0.1',
      'fe80::1%canary',
      '10.0.0.1,',
      'canary.example',
    ].map((text): [string, Record<string, string>, string] => [
      `a trusted proxy ${text}`,
      { KEYFRAME_TRUSTED_PROXIES: text },
      'KEYFRAME_TRUSTED_PROXIES: must be IP addresses or CIDR ranges such as 10.0.0.0/8',
    ]),
    ['a limit that is no whole number', { KEYFRAME_WRITE_LIMIT_ENVIRONMENT: '1Gi' }, 'must be a whole number from 0'],
    ['a limit below none', { KEYFRAME_RATE_LIMIT_REQUESTS: '-1' }, 'must be a whole number from 0 to 1000000'],
    ['a limit too high', { KEYFRAME_RATE_LIMIT_FAILED_AUTHENTICATIONS: '1000001' }, 'must be a whole number'],
    ['a delay too long', { KEYFRAME_SHUTDOWN_DELAY: '61s' }, 'KEYFRAME_SHUTDOWN_DELAY: must be a duration from 0s'],
    ['an admin without a file', { KEYFRAME_BOOTSTRAP_ADMIN_EMAIL: 'a@b' }, 'needs KEYFRAME_BOOTSTRAP_TOKEN_FILE'],
    ['a file without an admin', { KEYFRAME_BOOTSTRAP_TOKEN_FILE: '/canary' }, 'needs KEYFRAME_BOOTSTRAP_TOKEN_FILE'],
    [
      'no e-mail address',
      { KEYFRAME_BOOTSTRAP_ADMIN_EMAIL: 'canary', KEYFRAME_BOOTSTRAP_TOKEN_FILE: '/t' },
      'KEYFRAME_BOOTSTRAP_ADMIN_EMAIL: must be an e-mail address',
    ],
    [
      'an empty variable',
      { KEYFRAME_WATCH_NAMESPACES: '' },
      'KEYFRAME_WATCH_NAMESPACES: is empty; give it a value or unset it',
    ],
    [
      'a misspelt variable',
      { KEYFRAME_WATCH_NAMESPACE: 'canary' },
      'KEYFRAME_WATCH_NAMESPACE: is not a variable of this server; KEYFRAME_WATCH_NAMESPACES is',
    ],
    [
      'a misspelt variable that two names are like',
      // Three letters from HOST, which comes first, and one from PORT.
      { KEYFRAME_PORTS: 'canary' },
      'KEYFRAME_PORTS: is not a variable of this server; KEYFRAME_PORT is',
    ],
    [
      'the misspelt file of a secret',
      { KEYFRAME_ROOT_KEY_FIL: 'canary' },
      'KEYFRAME_ROOT_KEY_FIL: is not a variable of this server; KEYFRAME_ROOT_KEY_FILE is',
    ],
    [
      'an unknown variable',
      { KEYFRAME_SOMETHING_ELSE: 'canary' },
      'KEYFRAME_SOMETHING_ELSE: is not a variable of this server',
    ],
    [
      'the service link of a Service called keyframe',
      { KEYFRAME_PORT: 'tcp://10.0.0.9:8700' },
      'KEYFRAME_PORT: holds a service link of Kubernetes; set enableServiceLinks: false',
    ],
  ])('%s', (_case, changed, fault) => {
    const found = faults(changed);
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(fault);
    expect(found[0]).not.toMatch(/canary/i);
  });
});

test('a role does not check the values of variables that it does not read', () => {
  const others = { KEYFRAME_PORT: 'canary', KEYFRAME_SMOKE_TEST_URL: 'canary', KEYFRAME_KUBECONFIG_FILE: '/canary' };
  const given = source({ KEYFRAME_DATABASE_URL: databaseUrl, ...others });
  expect(faultsOf(() => loadMigrateConfig(given))).toEqual([]);
  expect(faultsOf(() => loadRecoveredConfig(given))).toEqual([]);
  const forApi = source({ ...complete, KEYFRAME_DATABASE_WAIT: 'canary', KEYFRAME_KUBECONFIG_FILE: '/canary' });
  expect(faultsOf(() => loadServerConfig('api', forApi))).toEqual([]);
  expect(faultsOf(() => loadServerConfig('controller', forApi))).toHaveLength(1);
});

test('all faults are reported at once', () => {
  expect(faultsOf(() => loadServerConfig('all', source({ KEYFRAME_PORT: 'x', KEYFRAME_LOG_LEVEL: 'x' })))).toHaveLength(
    5,
  );
});

test('variables of the command, of tools and of Kubernetes are no faults', () => {
  expect(
    faults({
      ...Object.fromEntries(commandVariables.map((name) => [name, 'x'])),
      KEYFRAME_CACHE_DIR: '/x',
      KEYFRAME_TEST_SCALE: 'full',
      KEYFRAME_SERVICE_HOST: '10.0.0.9',
      KEYFRAME_SERVICE_PORT: '8700',
      KEYFRAME_SERVICE_PORT_HTTP: '8700',
      KEYFRAME_PORT_8700_TCP: 'tcp://10.0.0.9:8700',
      KEYFRAME_PORT_8700_TCP_ADDR: '10.0.0.9',
      KEYFRAME_DB_PORT: 'tcp://10.0.0.8:5432',
      KEYFRAME_DB_SERVICE_HOST: '10.0.0.8',
    }),
  ).toEqual([]);
});
