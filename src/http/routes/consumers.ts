import type { Consumer } from '../../services/fleet/consumers.ts';
import type { WaitingRestore } from '../../services/fleet/waiting-restores.ts';
import { listConsumers, listFleet, listWaitingRestores } from '../../wire/contract/consumers.ts';
import type { ConsumerView, FleetConsumerView } from '../../wire/consumers.ts';
import type { WaitingRestoreView } from '../../wire/waiting-restores.ts';
import { environmentRoute, organizationRoute, type Route } from '../route.ts';

/** docs/interface.md 4.15 */
export const consumerRoutes: readonly Route[] = [
  environmentRoute({
    ...listConsumers,
    action: 'consumer.list',
    async handle({ consumers }, access, { query }) {
      const list = await consumers.list(access, query);
      return { status: 200, body: { consumers: list.consumers.map(viewOf), nextCursor: list.nextCursor } };
    },
  }),
  organizationRoute({
    ...listFleet,
    action: 'fleet.list',
    async handle({ consumers }, access, { query }) {
      const list = await consumers.listFleet(access, query);
      return { status: 200, body: { consumers: list.consumers.map(fleetViewOf), nextCursor: list.nextCursor } };
    },
  }),
  organizationRoute({
    ...listWaitingRestores,
    action: 'fleet.list',
    async handle({ waitingRestores }, access, { query }) {
      const { restores, nextCursor } = await waitingRestores.list(access, query);
      return { status: 200, body: { restores: restores.map(waitingViewOf), nextCursor } };
    },
  }),
];

function waitingViewOf({ isStale, clusterSeenAt, changedAt, keys, ...restore }: WaitingRestore): WaitingRestoreView {
  return {
    ...restore,
    clusterSeenAt: clusterSeenAt?.toISOString() ?? null,
    stale: isStale,
    plan: keys,
    changedAt: changedAt.toISOString(),
  };
}

function fleetViewOf(consumer: Consumer): FleetConsumerView {
  const { project, environment, environmentId, isEnvironmentDeleted } = consumer;
  const { environmentRevision, environmentRevisionId } = consumer;
  return {
    project,
    environment,
    environmentId,
    environmentDeleted: isEnvironmentDeleted,
    environmentRevision,
    environmentRevisionId,
    ...viewOf(consumer),
  };
}

function viewOf(consumer: Consumer): ConsumerView {
  const { clusterSeenAt, isStale, source, isPinned, state, syncedAt, changedAt } = consumer;
  return {
    cluster: consumer.cluster,
    clusterSeenAt: clusterSeenAt?.toISOString() ?? null,
    stale: isStale,
    uid: consumer.uid,
    namespace: consumer.namespace,
    name: consumer.name,
    source: source === '' ? null : source,
    pinned: isPinned,
    health: consumer.health,
    ready: state === 'ready',
    stalled: state === 'stalled',
    reason: consumer.reason,
    wantedRevision: consumer.wantedRevision,
    wantedRevisionId: consumer.wantedRevisionId,
    syncedRevision: consumer.syncedRevision,
    syncedRevisionId: consumer.syncedRevisionId,
    syncedAt: syncedAt?.toISOString() ?? null,
    secretName: consumer.secretName,
    rollout: rolloutOf(consumer),
    changedAt: changedAt.toISOString(),
  };
}

function rolloutOf(consumer: Consumer): ConsumerView['rollout'] {
  const { rolloutState, rolloutReason, convergedRevision, convergedRevisionId, workloads } = consumer;
  if (rolloutState === null) return null;
  return {
    converged: rolloutState === 'converged',
    stalled: rolloutState === 'stalled',
    reason: rolloutReason ?? '',
    convergedRevision,
    convergedRevisionId,
    workloads: (workloads ?? []).map(({ kind, name, revision = null, replicas = null, updatedReplicas = null }) => ({
      kind,
      name,
      revision,
      replicas,
      updatedReplicas,
    })),
  };
}
