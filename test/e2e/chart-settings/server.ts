import { expect } from '@jest/globals';
import type { Setting } from './setting.ts';

/** The values that reach the program: its variables, the Secrets that it reads, its database. */

const server = 'Deployment/keyframe spec.template.spec';
const main = `${server}.containers[keyframe]`;
const variable = (name: string): string => `${main}.env[KEYFRAME_${name}].value`;
const init = 'Job/keyframe-init spec.template.spec.containers[0]';
const preDelete = 'Job/keyframe-pre-delete spec.template.spec.containers[0]';
const postgres = 'StatefulSet/keyframe-postgres spec.template.spec';
const claim = 'StatefulSet/keyframe-postgres spec.volumeClaimTemplates[0].spec';
const external = { 'postgres.enabled': false, 'database.existingSecret': 'db' };
const url = 'postgresql://keyframe:secret@db.internal:5432/keyframe';
const rules = (name: string): string => `ClusterRole/keyframe-keyframe-${name} rules`;
const patches = expect.arrayContaining([
  expect.objectContaining({ apiGroups: ['apps'], verbs: expect.arrayContaining(['patch']) }),
]);

const programSettings: readonly Setting[] = [
  {
    value: 'watchNamespaces',
    set: ['team-a', 'team-b'],
    shows: {
      [variable('WATCH_NAMESPACES')]: 'team-a,team-b',
      [`${preDelete}.env[KEYFRAME_WATCH_NAMESPACES].value`]: 'team-a,team-b',
      'Role/keyframe-keyframe-controller kind': 'Role',
      [rules('controller')]: undefined,
    },
  },
  { value: 'rollouts', set: true, shows: { [variable('ROLLOUTS')]: 'true', [rules('controller')]: patches } },
  { value: 'clusterName', set: 'east', shows: { [variable('CLUSTER_NAME')]: 'east' } },
  {
    value: 'targetMetadataPrefixes',
    set: ['app', 'example.com/'],
    shows: { [variable('TARGET_METADATA_PREFIXES')]: 'app,example.com/' },
  },
  { value: 'resyncInterval', set: '7m', shows: { [variable('RESYNC_INTERVAL')]: '7m' } },
  {
    value: 'logLevel',
    set: 'debug',
    shows: {
      'servers containers[keyframe].env[KEYFRAME_LOG_LEVEL].value': 'debug',
      'servers initContainers[migrate].env[KEYFRAME_LOG_LEVEL].value': 'debug',
      [`${init}.env[KEYFRAME_LOG_LEVEL].value`]: 'debug',
    },
  },
  {
    value: 'trustedProxies',
    set: ['10.0.0.0/8', 'fd00::1'],
    shows: { [variable('TRUSTED_PROXIES')]: '10.0.0.0/8,fd00::1' },
  },
  { value: 'rateLimits.requests', set: 12_345_6, shows: { [variable('RATE_LIMIT_REQUESTS')]: '123456' } },
  {
    value: 'rateLimits.failedAuthentications',
    set: 0,
    shows: { [variable('RATE_LIMIT_FAILED_AUTHENTICATIONS')]: '0' },
  },
  { value: 'rateLimits.trafficMiB', set: 2_048, shows: { [variable('RATE_LIMIT_TRAFFIC_MIB')]: '2048' } },
  {
    value: 'growthLimits.environmentMiBPerDay',
    set: 1_000_000,
    shows: { [variable('WRITE_LIMIT_ENVIRONMENT')]: '1000000' },
  },
  { value: 'growthLimits.callerMiBPerDay', set: 0, shows: { [variable('WRITE_LIMIT_CALLER')]: '0' } },
  { value: 'growthLimits.snapshotsPerEnvironment', set: 77, shows: { [variable('SNAPSHOT_LIMIT')]: '77' } },
  {
    value: 'shutdownDelay',
    set: '3s',
    shows: { [variable('SHUTDOWN_DELAY')]: '3s', [`${preDelete}.env[KEYFRAME_SHUTDOWN_DELAY].value`]: '3s' },
  },
];

const secretSettings: readonly Setting[] = [
  {
    value: 'rootKey.existingSecret',
    set: 'vaulted',
    shows: {
      [`${server}.volumes[root-key].secret.secretName`]: 'vaulted',
      [`${init}.env[KEYFRAME_INIT_ROOT_KEY_SECRET]`]: undefined,
    },
  },
  {
    value: 'rootKey.key',
    set: 'keys',
    shows: {
      [variable('ROOT_KEY_FILE')]: '/etc/keyframe/root-key/keys',
      [`${init}.env[KEYFRAME_INIT_ROOT_KEY_SECRET].value`]: 'keyframe-root-key/keys',
    },
  },
  {
    value: 'bootstrap.adminEmail',
    set: 'ann@corp.test',
    shows: {
      [variable('BOOTSTRAP_ADMIN_EMAIL')]: 'ann@corp.test',
      [`${init}.env[KEYFRAME_BOOTSTRAP_ADMIN_EMAIL].value`]: 'ann@corp.test',
    },
  },
  {
    value: 'bootstrap.existingSecret',
    set: 'first-admin',
    shows: {
      [`${server}.volumes[bootstrap].secret`]: expect.objectContaining({ secretName: 'first-admin', optional: false }),
      [`${init}.env[KEYFRAME_INIT_ADMIN_SECRET]`]: undefined,
      'Pod/keyframe-smoke-test spec.volumes[admin].secret.secretName': 'first-admin',
    },
  },
  {
    value: 'init.enabled',
    set: false,
    shows: {
      'Job/keyframe-init kind': undefined,
      'ServiceAccount/keyframe-init kind': undefined,
      [`${server}.volumes[bootstrap].emptyDir.medium`]: 'Memory',
    },
  },
  {
    value: 'preDelete.enabled',
    set: false,
    shows: { 'Job/keyframe-pre-delete kind': undefined, 'ServiceAccount/keyframe-pre-delete kind': undefined },
  },
  { value: 'tests.enabled', set: false, shows: { 'Pod/keyframe-smoke-test kind': undefined } },
];

const databaseSettings: readonly Setting[] = [
  {
    value: 'database.url',
    set: url,
    given: { 'postgres.enabled': false },
    shows: {
      'Secret/keyframe-database stringData.url': url,
      [`${server}.volumes[database].secret.secretName`]: 'keyframe-database',
    },
  },
  {
    value: 'database.existingSecret',
    set: 'db',
    given: { 'postgres.enabled': false },
    shows: { [`${server}.volumes[database].secret.secretName`]: 'db', 'Secret/keyframe-database kind': undefined },
  },
  {
    value: 'database.key',
    set: 'uri',
    given: external,
    shows: {
      [variable('DATABASE_URL_FILE')]: '/etc/keyframe/database/uri',
      'servers initContainers[migrate].env[KEYFRAME_DATABASE_URL_FILE].value': '/etc/keyframe/database/uri',
    },
  },
  {
    value: 'database.directKey',
    set: 'direct',
    given: external,
    shows: {
      [variable('DATABASE_DIRECT_URL_FILE')]: '/etc/keyframe/database/direct',
      'servers initContainers[migrate].env[KEYFRAME_DATABASE_DIRECT_URL_FILE].value': '/etc/keyframe/database/direct',
    },
  },
  {
    value: 'database.ca.existingSecret',
    set: 'db-ca',
    given: external,
    shows: {
      [`${server}.volumes[database-ca].secret`]: {
        secretName: 'db-ca',
        items: [{ key: 'ca.crt', path: 'ca.crt' }],
      },
      ...Object.fromEntries(
        ['containers[keyframe]', 'initContainers[migrate]'].flatMap((container) => [
          [`servers ${container}.env[KEYFRAME_DATABASE_CA_FILE].value`, '/etc/keyframe/database-ca/ca.crt'],
          [`servers ${container}.volumeMounts[database-ca].mountPath`, '/etc/keyframe/database-ca'],
        ]),
      ),
    },
  },
  {
    value: 'database.ca.key',
    set: 'root.pem',
    given: { ...external, 'database.ca.existingSecret': 'db-ca' },
    shows: { [`${server}.volumes[database-ca].secret.items`]: [{ key: 'root.pem', path: 'ca.crt' }] },
  },
  {
    value: 'postgres.enabled',
    set: false,
    given: { 'database.existingSecret': 'db' },
    shows: {
      'StatefulSet/keyframe-postgres kind': undefined,
      'Service/keyframe-postgres kind': undefined,
      [`${init}.env[KEYFRAME_INIT_POSTGRES_SECRET]`]: undefined,
    },
  },
  {
    value: 'postgres.existingSecret',
    set: 'pg',
    shows: {
      [`${postgres}.volumes[password].secret.secretName`]: 'pg',
      [`${server}.volumes[database].secret.secretName`]: 'pg',
      [`${init}.env[KEYFRAME_INIT_POSTGRES_SECRET]`]: undefined,
    },
  },
  {
    value: 'postgres.image',
    set: 'registry.internal/postgres:18',
    shows: { [`${postgres}.containers[postgres].image`]: 'registry.internal/postgres:18' },
  },
  {
    value: 'postgres.runAsUser',
    set: 70,
    shows: {
      [`${postgres}.securityContext`]: expect.objectContaining({ runAsUser: 70, runAsGroup: 70, fsGroup: 70 }),
    },
  },
  ...(['requests', 'limits'] as const).map((part) => ({
    value: `postgres.resources.${part}`,
    set: { memory: '3Gi', cpu: '3' },
    shows: { [`${postgres}.containers[postgres].resources.${part}`]: { memory: '3Gi', cpu: '3' } },
  })),
  { value: 'postgres.storage', set: '50Gi', shows: { [`${claim}.resources.requests.storage`]: '50Gi' } },
  { value: 'postgres.storageClass', set: 'fast', shows: { [`${claim}.storageClassName`]: 'fast' } },
];

export const serverSettings: readonly Setting[] = [...programSettings, ...secretSettings, ...databaseSettings];
