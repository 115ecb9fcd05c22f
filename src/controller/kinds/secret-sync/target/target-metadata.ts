import { isDeepStrictEqual } from 'node:util';
import { secretSyncKind } from '../../../../kube/client/keyframe-kinds.ts';
import type { ObjectMeta, OwnerReference } from '../../../../kube/client/objects.ts';
import type { SecretMeta } from '../../../../kube/client/secrets.ts';
import type { SecretSync } from '../../../generated/secret-sync.ts';
import { isTokenSecret } from '../../service-token/resource.ts';
import { metadataNotAllowed } from '../messages.ts';
import { targetOf } from '../spec/resource.ts';
import { recordOf } from './target-record.ts';
import {
  allowAdoptionAnnotation,
  managedMetadataAnnotation,
  ownedByAnnotation,
  targetLabel,
  recordAnnotations,
} from '../../../annotations.ts';
import type { TargetRecord } from '../model.ts';

const ownAnnotations: readonly string[] = [managedMetadataAnnotation, ...recordAnnotations];

/** Names of labels and annotations that came from a spec. */
interface ManagedNames {
  readonly labels: readonly string[];
  readonly annotations: readonly string[];
}

/** Whether a Secret belongs to a SecretSync, by the name in its annotation. */
export function isOwnedBy(secret: ObjectMeta, sync: SecretSync): boolean {
  return secret.annotations?.[ownedByAnnotation] === sync.metadata.name;
}

/**
 * Whether an unmanaged Secret is offered to a SecretSync, by the name in its annotation. The Secret of a ServiceToken never
 * is: its token would stay valid without a Secret.
 */
export function isOfferedTo(secret: ObjectMeta, sync: SecretSync): boolean {
  return secret.annotations?.[allowAdoptionAnnotation] === sync.metadata.name && !isTokenSecret(secret);
}

/**
 * Throws DomainError invalid_input if the spec sets a label or an annotation that begins with none of the prefixes. No
 * prefixes allow all.
 */
export function checkMetadata({ spec: { target } }: SecretSync, prefixes: readonly string[]): void {
  if (prefixes.length === 0) return;
  for (const field of ['labels', 'annotations'] as const) {
    const names = namesOf(target[field]).filter((name) => !prefixes.some((prefix) => name.startsWith(prefix)));
    if (names.length > 0) throw metadataNotAllowed(field, names, prefixes);
  }
}

/**
 * The metadata that a target must have. Entries of others are kept, those of the spec are set, and those that the spec no
 * longer lists are removed. `record` is the record of the data's sources. Default: the present one.
 */
export function targetMetadata(
  sync: SecretSync,
  existing: ObjectMeta | undefined,
  record: TargetRecord = existing === undefined ? {} : recordOf(existing),
): SecretMeta {
  const { target } = sync.spec;
  const before = managedNames(existing);
  const own: ManagedNames = { labels: namesOf(target.labels), annotations: namesOf(target.annotations) };
  const labels = { ...without(existing?.labels, before.labels), ...target.labels, [targetLabel]: 'true' };
  const annotations: Record<string, string> = {
    ...without(existing?.annotations, [...before.annotations, ...ownAnnotations]),
    ...target.annotations,
    ...record,
    [ownedByAnnotation]: sync.metadata.name,
  };
  if (own.labels.length + own.annotations.length > 0) annotations[managedMetadataAnnotation] = JSON.stringify(own);
  return {
    name: targetOf(sync).name,
    labels,
    annotations,
    ownerReferences: ownerReferences(sync, existing?.ownerReferences ?? []),
    finalizers: existing?.finalizers ?? [],
  };
}

/** Whether a target has exactly the metadata that it must have. */
export function metadataFits(sync: SecretSync, existing: ObjectMeta): boolean {
  const { labels, annotations, ownerReferences: owners } = targetMetadata(sync, existing);
  return (
    isDeepStrictEqual(labels, existing.labels ?? {}) &&
    isDeepStrictEqual(annotations, existing.annotations ?? {}) &&
    isDeepStrictEqual(owners, existing.ownerReferences ?? [])
  );
}

/** The owners of a Secret besides the SecretSync. The garbage collector deletes a Secret when the last of its owners is gone. */
export function otherOwners(sync: SecretSync, { ownerReferences: owners = [] }: ObjectMeta): readonly OwnerReference[] {
  return owners.filter((owner) => !refersTo(owner, sync));
}

function ownerReferences(sync: SecretSync, existing: readonly OwnerReference[]): OwnerReference[] {
  const { name, uid } = sync.metadata;
  const { group, version, kind } = secretSyncKind;
  const own: OwnerReference = { apiVersion: `${group}/${version}`, kind, name, uid };
  const others = existing.filter((owner) => !refersTo(owner, sync));
  if (sync.spec.target.deletionPolicy !== 'Delete') return others;
  // Keeps its place, so that an unchanged list stays equal.
  const place = existing.findIndex((owner) => refersTo(owner, sync));
  return place === -1 ? [...others, own] : others.toSpliced(place, 0, own);
}

// By kind and name: with the uid of a deleted SecretSync of the same name, the garbage collector would delete the Secret.
function refersTo(owner: OwnerReference, { metadata: { name } }: SecretSync): boolean {
  const { group, kind } = secretSyncKind;
  return owner.kind === kind && owner.name === name && owner.apiVersion.startsWith(`${group}/`);
}

/** What the annotation lists; nothing if it is absent or was damaged by hand. */
function managedNames(existing: ObjectMeta | undefined): ManagedNames {
  const text = existing?.annotations?.[managedMetadataAnnotation];
  if (text === undefined) return { labels: [], annotations: [] };
  try {
    const names = JSON.parse(text) as Partial<Record<keyof ManagedNames, unknown>> | null;
    return { labels: stringsOf(names?.labels), annotations: stringsOf(names?.annotations) };
  } catch {
    return { labels: [], annotations: [] };
  }
}

function stringsOf(list: unknown): string[] {
  return Array.isArray(list) ? list.filter((item) => typeof item === 'string') : [];
}

function namesOf(map: Readonly<Record<string, string>> | undefined): string[] {
  return Object.keys(map ?? {}).sort();
}

function without(map: Readonly<Record<string, string>> | undefined, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(map ?? {}).filter(([name]) => !names.includes(name)));
}
