import { expect } from '@jest/globals';
import { ownRelease } from '../../../src/lib/release.ts';
import type { Setting } from './setting.ts';

/** The values that reach the program: its variables, the Secrets that it reads, its database. */

const server = 'Deployment/keyframe spec.template.spec';
const main = `${server}.containers[keyframe]`;
const variable = (name: string): string => `${main}.env[KEYFRAME_${name}].value`;
const controller = 'Deployment/keyframe-controller spec.template.spec.containers[keyframe]';
const controllerVariable = (name: string): string => `${controller}.env[KEYFRAME_${name}].value`;
const init = 'Job/keyframe-init spec.template.spec.containers[0]';
const smokeTest = 'Pod/keyframe-smoke-test spec';
const preDelete = 'Job/keyframe-pre-delete spec.template.spec.containers[0]';
const postgres = 'StatefulSet/keyframe-postgres spec.template.spec';
const claim = 'StatefulSet/keyframe-postgres spec.volumeClaimTemplates[0].spec';
const oidc = {
  'oidc.issuer': 'https://id.example.com',
  'oidc.clientId': 'keyframe',
  'oidc.existingSecret': 'kf-oidc',
};
const external = { 'postgres.enabled': false, 'database.existingSecret': 'db' };
const migration = 'Job/keyframe-migrate spec.template.spec';
const minorRelease = ownRelease().split('.').slice(0, 2).join('.');
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
      [controllerVariable('WATCH_NAMESPACES')]: 'team-a,team-b',
      [`${preDelete}.env[KEYFRAME_WATCH_NAMESPACES].value`]: 'team-a,team-b',
      'Role/keyframe-keyframe-controller kind': 'Role',
      [rules('controller')]: undefined,
    },
  },
  { value: 'rollouts', set: true, shows: { [controllerVariable('ROLLOUTS')]: 'true', [rules('controller')]: patches } },
  {
    value: 'rolloutNamespaces',
    set: ['team-a'],
    given: { rollouts: true },
    shows: {
      [controllerVariable('ROLLOUT_NAMESPACES')]: 'team-a',
      'Role/keyframe-keyframe-controller-rollout metadata.namespace': 'team-a',
      'Role/keyframe-keyframe-controller-rollout rules': patches,
      'RoleBinding/keyframe-keyframe-controller-rollout metadata.namespace': 'team-a',
      [rules('controller')]: expect.not.arrayContaining([expect.objectContaining({ apiGroups: ['apps'] })]),
    },
  },
  { value: 'clusterName', set: 'east', shows: { [controllerVariable('CLUSTER_NAME')]: 'east' } },
  { value: 'resyncInterval', set: '7m', shows: { [controllerVariable('RESYNC_INTERVAL')]: '7m' } },
  {
    value: 'targetMetadataPrefixes',
    set: ['app', 'example.com/'],
    shows: { [controllerVariable('TARGET_METADATA_PREFIXES')]: 'app,example.com/' },
  },
  {
    value: 'logLevel',
    set: 'debug',
    shows: {
      'servers containers[keyframe].env[KEYFRAME_LOG_LEVEL].value': 'debug',
      [`${server}.initContainers[migrate].env[KEYFRAME_LOG_LEVEL].value`]: 'debug',
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
  {
    value: 'trustedIssuers.privateAddresses',
    set: true,
    shows: { [variable('TRUSTED_ISSUER_PRIVATE_ADDRESSES')]: 'true' },
  },
  { value: 'deviceLogin', set: false, shows: { [variable('DEVICE_LOGIN')]: 'false' } },
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
    given: { 'controller.token.existingSecret': 'kf-token', 'clusterTls.existingSecret': 'kf-cluster' },
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
  {
    value: 'publicUrl',
    set: 'https://keyframe.example.com',
    given: { 'prometheusRule.enabled': true },
    shows: {
      [variable('PUBLIC_URL')]: 'https://keyframe.example.com',
      'PrometheusRule/keyframe spec.groups[keyframe].rules[KeyframeNoLeader].annotations.runbook_url':
        'https://keyframe.example.com/docs/alerts.md#keyframenoleader',
    },
  },
  {
    value: 'oidc.issuer',
    set: 'https://id.example.com',
    given: { 'oidc.clientId': 'keyframe', 'oidc.existingSecret': 'kf-oidc' },
    shows: {
      [variable('OIDC_ISSUER')]: 'https://id.example.com',
      [variable('OIDC_CLIENT_ID')]: 'keyframe',
      [variable('OIDC_CLIENT_SECRET_FILE')]: '/etc/keyframe/oidc/client-secret',
      [`${main}.volumeMounts[oidc].mountPath`]: '/etc/keyframe/oidc',
      [`${server}.volumes[oidc].secret.secretName`]: 'kf-oidc',
    },
  },
  { value: 'oidc.clientId', set: 'other', given: oidc, shows: { [variable('OIDC_CLIENT_ID')]: 'other' } },
  {
    value: 'oidc.existingSecret',
    set: 'other',
    given: oidc,
    shows: { [`${server}.volumes[oidc].secret.secretName`]: 'other' },
  },
  {
    value: 'oidc.key',
    set: 'other',
    given: oidc,
    shows: {
      [variable('OIDC_CLIENT_SECRET_FILE')]: '/etc/keyframe/oidc/other',
      [`${server}.volumes[oidc].secret.items`]: [{ key: 'other', path: 'other' }],
    },
  },
  { value: 'oidc.name', set: 'Example Login', given: oidc, shows: { [variable('OIDC_NAME')]: 'Example Login' } },
  { value: 'oidc.scopes', set: 'openid email', given: oidc, shows: { [variable('OIDC_SCOPES')]: 'openid email' } },
  { value: 'oidc.groupsClaim', set: 'none', given: oidc, shows: { [variable('OIDC_GROUPS_CLAIM')]: 'none' } },
  { value: 'oidc.groupsMaxAge', set: '8h', given: oidc, shows: { [variable('OIDC_GROUPS_MAX_AGE')]: '8h' } },
  {
    value: 'oidc.ca.existingSecret',
    set: 'id-ca',
    given: oidc,
    shows: {
      [variable('OIDC_CA_FILE')]: '/etc/keyframe/oidc-ca/ca.crt',
      [`${main}.volumeMounts[oidc-ca].mountPath`]: '/etc/keyframe/oidc-ca',
      [`${server}.volumes[oidc-ca].secret`]: { secretName: 'id-ca', items: [{ key: 'ca.crt', path: 'ca.crt' }] },
    },
  },
  {
    value: 'oidc.ca.key',
    set: 'root.pem',
    given: { ...oidc, 'oidc.ca.existingSecret': 'id-ca' },
    shows: { [`${server}.volumes[oidc-ca].secret.items`]: [{ key: 'root.pem', path: 'ca.crt' }] },
  },
  {
    value: 'tls.existingSecret',
    set: 'kf-tls',
    shows: {
      [`${server}.volumes[tls].secret.secretName`]: 'kf-tls',
      [variable('TLS_CERTIFICATE_FILE')]: '/etc/keyframe/tls/tls.crt',
      [variable('TLS_KEY_FILE')]: '/etc/keyframe/tls/tls.key',
      [`${smokeTest}.containers[0].env[KEYFRAME_SMOKE_TEST_URL].value`]: 'https://keyframe.keyframe:80',
      // Not the key of the certificate.
      [`${smokeTest}.volumes[tls-ca].secret.items`]: [{ key: 'ca.crt', path: 'ca.crt' }],
    },
  },
  {
    value: 'tls.caKey',
    set: 'root.pem',
    given: { 'tls.existingSecret': 'kf-tls' },
    shows: { [`${smokeTest}.volumes[tls-ca].secret.items`]: [{ key: 'root.pem', path: 'ca.crt' }] },
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
      [`${server}.initContainers[migrate].env[KEYFRAME_DATABASE_URL_FILE].value`]: '/etc/keyframe/database/uri',
    },
  },
  {
    value: 'database.directKey',
    set: 'direct',
    given: external,
    shows: {
      [variable('DATABASE_DIRECT_URL_FILE')]: '/etc/keyframe/database/direct',
      [`${server}.initContainers[migrate].env[KEYFRAME_DATABASE_DIRECT_URL_FILE].value`]:
        '/etc/keyframe/database/direct',
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
          [`${server}.${container}.env[KEYFRAME_DATABASE_CA_FILE].value`, '/etc/keyframe/database-ca/ca.crt'],
          [`${server}.${container}.volumeMounts[database-ca].mountPath`, '/etc/keyframe/database-ca'],
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
    value: 'database.migration.existingSecret',
    set: 'owner',
    given: external,
    shows: {
      [`${migration}.volumes[database-owner].secret.secretName`]: 'owner',
      [`${migration}.volumes[database].secret.secretName`]: 'db',
      [`${migration}.containers[migrate].args`]: ['migrate'],
      [`${migration}.containers[migrate].env[KEYFRAME_DATABASE_URL_FILE].value`]: '/etc/keyframe/database-owner/url',
      [`${migration}.containers[migrate].env[KEYFRAME_DATABASE_RUN_URL_FILE].value`]: '/etc/keyframe/database/url',
      'Job/keyframe-migrate metadata.annotations': expect.objectContaining({
        'helm.sh/hook': 'pre-install,pre-upgrade',
      }),
      // No pod of the server can read the owner's address.
      'servers volumes[database-owner]': undefined,
      [`${server}.initContainers[migrate].env[KEYFRAME_DATABASE_URL_FILE].value`]: '/etc/keyframe/database/url',
    },
  },
  {
    value: 'database.migration.key',
    set: 'uri',
    given: { ...external, 'database.migration.existingSecret': 'owner' },
    shows: {
      [`${migration}.volumes[database-owner].secret.items`]: [{ key: 'uri', path: 'uri' }],
      [`${migration}.containers[migrate].env[KEYFRAME_DATABASE_URL_FILE].value`]: '/etc/keyframe/database-owner/uri',
    },
  },
  {
    value: 'database.finishUpgrade',
    set: minorRelease,
    given: { ...external, 'database.migration.existingSecret': 'owner' },
    shows: {
      [`${server}.initContainers[migrate].args`]: ['migrate', '--finish-upgrade'],
      [`${migration}.containers[migrate].args`]: ['migrate', '--finish-upgrade'],
    },
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
      [`${server}.volumes[database-owner].secret.secretName`]: 'pg',
      [`${server}.initContainers[migrate].env[KEYFRAME_DATABASE_RUN_GENERATED].value`]: 'true',
      [`${init}.env[KEYFRAME_INIT_POSTGRES_SECRET]`]: undefined,
      [`${init}.env[KEYFRAME_INIT_POSTGRES_RUN_SECRET].value`]: 'keyframe-postgres-run',
    },
  },
  {
    value: 'postgres.runSecret',
    set: 'run',
    shows: {
      [`${server}.volumes[database].secret.secretName`]: 'run',
      [`${server}.initContainers[migrate].env[KEYFRAME_DATABASE_URL_FILE].value`]: '/etc/keyframe/database-owner/url',
      [`${server}.initContainers[migrate].env[KEYFRAME_DATABASE_RUN_URL_FILE].value`]: '/etc/keyframe/database/url',
      // Its password is the operator's.
      [`${server}.initContainers[migrate].env[KEYFRAME_DATABASE_RUN_GENERATED]`]: undefined,
      // Only migrations know the owner's address.
      'servers containers[keyframe].volumeMounts[database-owner]': undefined,
      [`${init}.env[KEYFRAME_INIT_POSTGRES_RUN_SECRET]`]: undefined,
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
