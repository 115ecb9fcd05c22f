import { serviceTokenKind } from '../../../kube/client/keyframe-kinds.ts';
import type { NamespacedName, ObjectMeta, OwnerReference } from '../../../kube/client/objects.ts';
import type { SecretMeta } from '../../../kube/client/secrets.ts';
import { parseDurationMs } from '../../../lib/duration.ts';
import type { AskedPlace } from '../../../services/managed/access.ts';
import type { ServiceToken } from '../../generated/service-token.ts';
import { ownedByTokenAnnotation, tokenLabel } from '../../annotations.ts';

/** The key of the Secret's data that holds the token. */
export const tokenDataKey = 'token';

/** The Secret that a ServiceToken writes. */
export function secretOf({ metadata, spec }: ServiceToken): NamespacedName {
  return { namespace: metadata.namespace ?? '', name: spec.secretName ?? metadata.name };
}

/** Whether a Secret is some ServiceToken's own: it says so, whichever it is. */
export function isTokenSecret({ labels, annotations }: ObjectMeta): boolean {
  return labels?.[tokenLabel] !== undefined || annotations?.[ownedByTokenAnnotation] !== undefined;
}

/** What a ServiceToken asks for, in the words of the services. */
export function placeOf({ spec }: ServiceToken): AskedPlace {
  const { organization, project = null, environment = null, permission } = spec;
  return { organization, project, environment, permission: permission === 'ReadWrite' ? 'read_write' : 'read' };
}

export interface Rotation {
  readonly intervalMs: number;
  readonly overlapMs: number;
  readonly maxOverlapMs: number;
}

/** The times of a spec, in milliseconds. */
export interface Times {
  readonly lifeMs: number | undefined;
  readonly rotation: Rotation | undefined;
}

/** The durations of a spec, which the API server has checked; one that is none after all counts as absent. */
export function timesOf({ spec: { expiresIn, rotation } }: ServiceToken): Times {
  const lifeMs = expiresIn === undefined ? undefined : parseDurationMs(expiresIn);
  const intervalMs = rotation === undefined ? undefined : parseDurationMs(rotation.interval);
  if (rotation === undefined || intervalMs === undefined) return { lifeMs, rotation: undefined };
  const maxOverlapMs = parseDurationMs(rotation.maxOverlap) ?? 0;
  return {
    lifeMs,
    rotation: { intervalMs, overlapMs: parseDurationMs(rotation.overlap) ?? maxOverlapMs, maxOverlapMs },
  };
}

/** The metadata that a token Secret shall have; what others put there is kept. */
export function secretMetadata(resource: ServiceToken, existing: ObjectMeta | undefined): SecretMeta {
  const { group, version, kind } = serviceTokenKind;
  const { name, uid } = resource.metadata;
  // Known by kind and name: one with the uid of a ServiceToken that was made again would have the Secret collected.
  const isOurs = (owner: OwnerReference): boolean =>
    owner.kind === kind && owner.name === name && owner.apiVersion.startsWith(`${group}/`);
  const others = (existing?.ownerReferences ?? []).filter((owner) => !isOurs(owner));
  return {
    name: secretOf(resource).name,
    labels: { ...existing?.labels, [tokenLabel]: 'true' },
    annotations: { ...existing?.annotations, [ownedByTokenAnnotation]: name },
    ownerReferences: [...others, { apiVersion: `${group}/${version}`, kind, name, uid }],
    finalizers: existing?.finalizers ?? [],
  };
}

/** Whether a Secret has what it needs to be watched, known and collected as ours. */
export function metadataFits(
  resource: ServiceToken,
  { labels, annotations, ownerReferences = [] }: ObjectMeta,
): boolean {
  const { name, uid } = resource.metadata;
  return (
    labels?.[tokenLabel] === 'true' &&
    annotations?.[ownedByTokenAnnotation] === name &&
    ownerReferences.some((owner) => owner.uid === uid && owner.kind === serviceTokenKind.kind)
  );
}
