import { isDeepStrictEqual } from 'node:util';
import type { NewResource } from '../../../kube/client/custom-resources.ts';
import { clusterSecretSyncKind } from '../../../kube/client/keyframe-kinds.ts';
import type { ObjectMeta, OwnerReference } from '../../../kube/client/objects.ts';
import { clusterSyncLabel, managedMetadataAnnotation } from '../../annotations.ts';
import { statusPatch } from '../../frame/status-lane.ts';
import type { ClusterSecretSync } from '../../generated/cluster-secret-sync.ts';
import type { SecretSync } from '../../generated/secret-sync.ts';

/** The SecretSyncs that a ClusterSecretSync creates: their content, and how it recognizes them. Pure. */

/**
 * Who owns a SecretSync with the ClusterSecretSync's name. `own`: the ClusterSecretSync created it. `adoptable`: a deleted
 * ClusterSecretSync of the same name created it, or it has the label and no controller. `unmanaged`: anything else.
 */
export type Ownership = 'own' | 'adoptable' | 'unmanaged';

/** Who owns a SecretSync. A label alone takes nothing from another controller. */
export function ownershipOf({ metadata: { name, uid } }: ClusterSecretSync, { metadata }: SecretSync): Ownership {
  const controller = metadata.ownerReferences?.find((owner) => owner.controller === true);
  if (controller === undefined) return metadata.labels?.[clusterSyncLabel] === name ? 'adoptable' : 'unmanaged';
  if (!isOfKind(controller) || controller.name !== name) return 'unmanaged';
  return controller.uid === uid ? 'own' : 'adoptable';
}

/** The SecretSync to create in a namespace. */
export function newChild(parent: ClusterSecretSync, namespace: string): NewResource {
  const { labels, annotations, ownerReferences } = childMetadata(parent, {});
  return {
    metadata: { namespace, name: parent.metadata.name, labels, annotations, ownerReferences },
    spec: parent.spec.template.spec,
  };
}

/** The merge patch that makes a SecretSync match the template; undefined if it matches already. */
export function childPatch(
  parent: ClusterSecretSync,
  { metadata, spec }: SecretSync,
): { readonly metadata?: object; readonly spec?: object } | undefined {
  const { labels = {}, annotations = {}, ownerReferences = [] } = metadata;
  const wanted = { metadata: childMetadata(parent, metadata), spec: parent.spec.template.spec };
  return statusPatch({ metadata: { labels, annotations, ownerReferences }, spec }, wanted);
}

type ChildMetadata = Required<Pick<ObjectMeta, 'labels' | 'annotations' | 'ownerReferences'>>;

/** Keeps the entries of others, sets those of the template, and removes those that the template no longer lists. */
function childMetadata(
  parent: ClusterSecretSync,
  { labels, annotations, ownerReferences = [] }: Partial<ObjectMeta>,
): ChildMetadata {
  const { labels: own = {} } = parent.spec.template;
  const before = managedLabels(annotations);
  const kept = Object.entries(labels ?? {}).filter(([label]) => !before.includes(label));
  const { [managedMetadataAnnotation]: _, ...others } = annotations ?? {};
  const names = Object.keys(own).toSorted();
  return {
    labels: { ...Object.fromEntries(kept), ...own, [clusterSyncLabel]: parent.metadata.name },
    annotations: {
      ...others,
      ...(names.length === 0 ? {} : { [managedMetadataAnnotation]: JSON.stringify({ labels: names }) }),
    },
    ownerReferences: owners(parent, ownerReferences),
  };
}

/** The owner references with the ClusterSecretSync as the controller. It replaces a deleted one of the same name. */
function owners({ metadata: { name, uid } }: ClusterSecretSync, existing: OwnerReference[]): OwnerReference[] {
  const { group, version, kind } = clusterSecretSyncKind;
  const own: OwnerReference = { apiVersion: `${group}/${version}`, kind, name, uid, controller: true };
  const place = existing.findIndex((owner) => isOfKind(owner) && owner.name === name);
  if (place === -1) return [...existing, own];
  return isDeepStrictEqual(existing[place], own) ? existing : existing.toSpliced(place, 1, own);
}

function isOfKind({ kind, apiVersion }: OwnerReference): boolean {
  return kind === clusterSecretSyncKind.kind && apiVersion.startsWith(`${clusterSecretSyncKind.group}/`);
}

/** What the annotation lists; nothing if it is absent or was damaged by hand. */
function managedLabels(annotations: ObjectMeta['annotations']): readonly unknown[] {
  try {
    const { labels } = JSON.parse(annotations?.[managedMetadataAnnotation] ?? '{}') as { readonly labels?: unknown };
    return Array.isArray(labels) ? labels : [];
  } catch {
    return [];
  }
}

/** What the condition Ready reports for the current spec of a SecretSync; undefined until it reports. */
export function readinessOf({
  metadata,
  status,
}: SecretSync): { readonly isReady: boolean; readonly reason: string } | undefined {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready === undefined || ready.observedGeneration !== metadata.generation) return undefined;
  return { isReady: ready.status === 'True', reason: ready.reason };
}
