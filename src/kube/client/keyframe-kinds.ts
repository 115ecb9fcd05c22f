import type { ResourceKind } from './custom-resources.ts';

/** The kinds of Keyframe's API group, which `crds/` defines. */

const group = 'keyframe.dev';
const version = 'v1alpha1';

/** The `apiVersion` of all kinds. */
export const keyframeApiVersion = `${group}/${version}`;

export const secretSyncKind = {
  group,
  version,
  kind: 'SecretSync',
  plural: 'secretsyncs',
} as const satisfies ResourceKind;
export const clusterSecretSyncKind = {
  group,
  version,
  kind: 'ClusterSecretSync',
  plural: 'clustersecretsyncs',
} as const satisfies ResourceKind;
export const serviceTokenKind = {
  group,
  version,
  kind: 'ServiceToken',
  plural: 'servicetokens',
} as const satisfies ResourceKind;
export const accessGrantKind = {
  group,
  version,
  kind: 'AccessGrant',
  plural: 'accessgrants',
} as const satisfies ResourceKind;
export const secretEnvironmentKind = {
  group,
  version,
  kind: 'SecretEnvironment',
  plural: 'secretenvironments',
} as const satisfies ResourceKind;
export const secretSnapshotKind = {
  group,
  version,
  kind: 'SecretSnapshot',
  plural: 'secretsnapshots',
} as const satisfies ResourceKind;
export const snapshotScheduleKind = {
  group,
  version,
  kind: 'SnapshotSchedule',
  plural: 'snapshotschedules',
} as const satisfies ResourceKind;
export const snapshotRestoreKind = {
  group,
  version,
  kind: 'SnapshotRestore',
  plural: 'snapshotrestores',
} as const satisfies ResourceKind;
