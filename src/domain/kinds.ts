/** Kinds of custom resources that act as themselves. A SecretSync acts as a service token instead. */
export type ResourceKindName =
  'ServiceToken' | 'SecretSnapshot' | 'SnapshotRestore' | 'SnapshotSchedule' | 'SecretEnvironment';

/** Kinds that an AccessGrant can name. A SecretSync is granted reading, and reads as the keyless token of its namespace. */
export type GrantedKindName = ResourceKindName | 'SecretSync';

/** The kinds that an AccessGrant and the rules of a cluster can name. */
export const grantedKinds = [
  'ServiceToken',
  'SecretSync',
  'SecretSnapshot',
  'SnapshotRestore',
  'SnapshotSchedule',
] as const;

export type RuleKindName = (typeof grantedKinds)[number];
