import type { ChangeEvent } from '../domain/changes.ts';
import type { ClusterState } from '../domain/cluster-ceiling.ts';
import type { ServedClusterModel } from './generated/models.ts';
import type { Transaction } from './transaction.ts';

interface EnvironmentIds {
  readonly organizationId: string;
  readonly environmentId: string;
}

interface ServiceTokenIds {
  readonly organizationId: string;
  readonly serviceTokenId: string;
}

export const notifyChannel = 'keyframe';

/** Notifies every listener, at the commit, that an environment is at a new revision. */
export async function notifyEnvironment(tx: Transaction, ids: EnvironmentIds, revisionId: string): Promise<void> {
  await notify(tx, [environmentFields(ids, revisionId)]);
}

/**
 * Notifies every listener, at the commit, that an environment was created. A server of an earlier release takes it for
 * any other commit.
 */
export async function notifyAppearance(tx: Transaction, ids: EnvironmentIds, revisionId: string): Promise<void> {
  await notify(tx, [{ ...environmentFields(ids, revisionId), a: true }]);
}

/**
 * Notifies every listener, at the commit, that the value of a past version was destroyed. A server of an earlier
 * release takes it for a change.
 */
export async function notifyDestruction(tx: Transaction, ids: EnvironmentIds, revisionId: string): Promise<void> {
  await notify(tx, [{ ...environmentFields(ids, revisionId), x: true }]);
}

/** Notifies every listener, at the commit, that service tokens were created, revoked or changed. */
export async function notifyServiceTokens(tx: Transaction, tokens: readonly ServiceTokenIds[]): Promise<void> {
  await notify(
    tx,
    tokens.map(({ organizationId, serviceTokenId }) => ({ o: organizationId, t: serviceTokenId })),
  );
}

/** Notifies every listener, at the commit, that what users may do has changed: state, roles or personal tokens. */
export async function notifyUsers(tx: Transaction, userIds: readonly string[]): Promise<void> {
  await notify(
    tx,
    userIds.map((id) => ({ u: id })),
  );
}

/** Notifies every listener, at the commit, that snapshots of an organization were deleted. */
export async function notifySnapshots(
  tx: Transaction,
  organizationId: string,
  snapshotIds: readonly string[],
): Promise<void> {
  await notify(
    tx,
    snapshotIds.map((id) => ({ o: organizationId, s: id })),
  );
}

export interface ChangedRules {
  readonly organizationId: string;
  readonly cluster: string;
  readonly version: number;
  /** Whether the organization allows the cluster nothing now. */
  readonly isNothing: boolean;
}

/**
 * Notifies every listener, at the commit, that an organization changed what it allows a cluster. A server of an earlier
 * release ignores it.
 */
export async function notifyClusterRules(tx: Transaction, changed: ChangedRules): Promise<void> {
  const { organizationId, cluster, version, isNothing } = changed;
  await notify(tx, [{ o: organizationId, c: cluster, v: version, ...(isNothing ? { n: true } : {}) }]);
}

/**
 * Notifies every listener, at the commit, of the state of a cluster, and whether it is a home cluster. A server of an
 * earlier release ignores it.
 */
export async function notifyCluster(
  tx: Transaction,
  { name, isHome }: Pick<ServedClusterModel, 'name' | 'isHome'>,
  state: ClusterState,
): Promise<void> {
  await notify(tx, [{ c: name, q: state, ...(isHome ? {} : { m: true }) }]);
}

/** Reads a notification's payload; undefined for one that this version does not know. */
export function parseMessage(payload: string): ChangeEvent | undefined {
  const fields = parseObject(payload);
  if (typeof fields['u'] === 'string') return { kind: 'user', userId: fields['u'] };
  if (typeof fields['c'] === 'string') return clusterEvent(fields['c'], fields);
  return typeof fields['o'] === 'string' ? organizationEvent(fields['o'], fields) : undefined;
}

function organizationEvent(
  organizationId: string,
  { e: environmentId, r: revisionId, ...fields }: Readonly<Record<string, unknown>>,
): ChangeEvent | undefined {
  if (typeof environmentId === 'string' && typeof revisionId === 'string') {
    const ended = fields['d'] === true ? { ended: true as const } : {};
    const destroyed = fields['x'] === true ? { destroyed: true as const } : {};
    const appeared = fields['a'] === true ? { appeared: true as const } : {};
    return { kind: 'environment', organizationId, environmentId, revisionId, ...ended, ...destroyed, ...appeared };
  }
  if (typeof fields['t'] === 'string') return { kind: 'service_token', organizationId, serviceTokenId: fields['t'] };
  return typeof fields['s'] === 'string' ? { kind: 'snapshot', organizationId, snapshotId: fields['s'] } : undefined;
}

function clusterEvent(
  cluster: string,
  { o: organizationId, q: state, m: isRemote, v: version, n: isNothing }: Readonly<Record<string, unknown>>,
): ChangeEvent | undefined {
  if (state === 'enabled' || state === 'disabled' || state === 'forgotten') {
    return { kind: 'cluster', cluster, state, isHome: isRemote !== true };
  }
  const isOfRules = typeof organizationId === 'string' && typeof version === 'number';
  if (!isOfRules) return undefined;
  return { kind: 'cluster_rules', organizationId, cluster, version, isNothing: isNothing === true };
}

type Fields = Readonly<Record<string, string | number | boolean>>;

function environmentFields({ organizationId, environmentId }: EnvironmentIds, revisionId: string): Fields {
  return { o: organizationId, e: environmentId, r: revisionId };
}

/** Sends each message separately, in one statement. */
async function notify(tx: Transaction, messages: readonly Fields[]): Promise<void> {
  const payloads = messages.map((fields) => JSON.stringify(fields));
  await tx.run`SELECT pg_notify(${notifyChannel}, payload) FROM unnest(${payloads}::text[]) AS payload`;
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
