import { secretSyncKind, serviceTokenKind } from '../../kube/client/keyframe-kinds.ts';
import { type KubeObject, objectKey } from '../../kube/client/objects.ts';
import type { ResourceState, ResourceStates } from '../../observability/resource-metrics.ts';
import type { SecretSync } from '../generated/secret-sync.ts';
import type { ServiceToken } from '../generated/service-token.ts';
import { type Resource, isSuspended } from './resource.ts';
import { ownedByAnnotation } from '../annotations.ts';
import type { NamedWatch, WatchedObjects } from './named-watch.ts';

/** The states of all resources that the watches show, from their statuses only. */
export function resourceStates(watches: readonly NamedWatch[]): ResourceStates {
  const resources = watches.flatMap(({ kind, group }) =>
    kind === undefined ? [] : objectsOf(group).map((object) => stateOf(kind.kind, object as Resource)),
  );
  const syncs = watches.find(({ kind }) => kind === secretSyncKind)?.group;
  const others = watches.filter(({ kind }) => kind === undefined).flatMap(({ group }) => objectsOf(group));
  const orphans = syncs === undefined ? [] : others.filter((object) => isOrphan(object, syncs));
  return { resources, orphanedSecrets: orphans.length };
}

function objectsOf(objects: WatchedObjects): KubeObject[] {
  return objects.keys().flatMap((key) => objects.get(key) ?? []);
}

function stateOf(kind: string, resource: Resource): ResourceState {
  const { namespace = '', name } = resource.metadata;
  return { kind, namespace, name, ...readinessOf(resource), ...ownFields(kind, resource) };
}

function readinessOf(resource: Resource): Pick<ResourceState, 'isReady' | 'reason' | 'notReadySinceMs'> {
  const ready = resource.status?.conditions?.find(({ type }) => type === 'Ready');
  const reason = ready?.reason ?? 'Pending';
  if (ready?.status === 'True') return { isReady: true, reason };
  if (isSuspended(resource)) return { isReady: false, reason };
  const since = ready?.lastTransitionTime ?? resource.metadata.creationTimestamp;
  return { isReady: false, reason, notReadySinceMs: timeOf(since) };
}

function ownFields(kind: string, resource: Resource): Partial<ResourceState> {
  if (kind === secretSyncKind.kind) return { lastSyncMs: timeOf((resource as SecretSync).status?.lastSyncTime) };
  if (kind !== serviceTokenKind.kind) return {};
  const { spec, status } = resource as ServiceToken;
  return { expiresMs: timeOf(status?.expiresAt), isRotated: spec.rotation !== undefined };
}

function isOrphan({ metadata }: KubeObject, syncs: WatchedObjects): boolean {
  const owner = metadata.annotations?.[ownedByAnnotation];
  return owner !== undefined && syncs.get(objectKey({ ...metadata, name: owner })) === undefined;
}

function timeOf(text: string | undefined): number | undefined {
  const atMs = Date.parse(text ?? '');
  return Number.isNaN(atMs) ? undefined : atMs;
}
