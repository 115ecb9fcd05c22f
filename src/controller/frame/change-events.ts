import type { ChangeEvent } from '../../domain/changes.ts';
import type { ClusterState } from '../../domain/cluster-ceiling.ts';
import type { ControllerEvent } from './dependencies.ts';

/** The events for a change in the database. Changes of users cause none, because a controller does not act as a user. */
export function controllerEvents(change: ChangeEvent): readonly ControllerEvent[] {
  if (change.kind === 'service_token') return [{ kind: 'service token', id: change.serviceTokenId }];
  if (change.kind === 'snapshot') return [{ kind: 'kept state', id: change.snapshotId }];
  if (change.kind === 'user') return [];
  if (change.kind === 'cluster') return [clusterEvent(change.state)];
  if (change.kind === 'cluster_rules') {
    const { organizationId: id, version } = change;
    return [
      { kind: 'cluster rules', id, version: String(version) },
      { kind: 'cluster rules', id: '' },
    ];
  }
  const { environmentId: id, revisionId, ended, destroyed, appeared } = change;
  const history: ControllerEvent = { kind: 'environment history', id };
  if (ended === true) return [{ kind: 'environment', id }, history, { kind: 'slugs', id: '' }];
  if (destroyed === true) return [history];
  const commit: ControllerEvent = { kind: 'environment', id, version: revisionId };
  return appeared === true ? [commit, history, { kind: 'environments', id: '' }] : [commit];
}

/** The event for the state of this cluster. */
export function clusterEvent(state: ClusterState): ControllerEvent {
  return { kind: 'cluster', id: '', version: state };
}
