import type { AskedPlace, GrantPlace } from '../../../domain/grants.ts';
import { serviceTokenKind } from '../../../kube/client/keyframe-kinds.ts';
import type { NamespacedName, ObjectMeta, OwnerReference } from '../../../kube/client/objects.ts';
import type { SecretMeta } from '../../../kube/client/secrets.ts';
import { parseDurationMs } from '../../../lib/duration.ts';
import type { ServiceToken, ServiceTokenSpec } from '../../generated/service-token.ts';
import type { Claimant, SecretClaim } from '../secret-claims/claim.ts';
import { slugsOf } from '../../environment-ref.ts';
import { noPlace } from './messages.ts';
import { finalizer, ownedByTokenAnnotation, tokenLabel } from '../../annotations.ts';

/** The key of the Secret's data that holds the token. */
export const tokenDataKey = 'token';

/** The Secret that a ServiceToken writes, unless it is federated. */
export function secretOf({ metadata, spec }: ServiceToken): NamespacedName {
  return { namespace: metadata.namespace ?? '', name: spec.secretName ?? metadata.name };
}

/** Whether JWTs of ServiceAccounts prove the token: it has no value and no Secret. */
export function isFederated({ spec }: ServiceToken): boolean {
  return spec.serviceAccountNames !== undefined;
}

/** A ServiceToken as one that claims its Secret. */
export function claimantOf({ metadata: { name } }: ServiceToken): Claimant {
  return { kind: 'ServiceToken', name };
}

/** The claim of a ServiceToken on its Secret. */
export function claimOf(resource: ServiceToken): SecretClaim {
  const { metadata, status } = resource;
  // A token that was revoked has no time, but its Secret stays.
  const heldAt = status?.secretName === undefined ? undefined : (status.issuedAt ?? metadata.creationTimestamp);
  return { ...claimantOf(resource), isMerge: false, createdAt: metadata.creationTimestamp, heldAt };
}

/** Whether a Secret belongs to any ServiceToken, by its label or annotation. */
export function isTokenSecret({ labels, annotations }: ObjectMeta): boolean {
  return labels?.[tokenLabel] !== undefined || annotations?.[ownedByTokenAnnotation] !== undefined;
}

/**
 * Whether a ServiceToken is being deleted without Keyframe's finalizer: its token was not revoked, or is revoked already.
 * The finalizer of another controller can keep such a ServiceToken for any time.
 */
export function isAbandoned({ deletionTimestamp, finalizers = [] }: ObjectMeta): boolean {
  return deletionTimestamp !== undefined && !finalizers.includes(finalizer);
}

/** The request of a ServiceToken in the terms of the backend. Throws DomainError invalid_input. */
export function placeOf({ spec }: ServiceToken): AskedPlace {
  return { ...grantPlaceOf(spec), permission: spec.permission === 'ReadWrite' ? 'read_write' : 'read' };
}

/** The API server refuses a spec whose place is not that of its scope. A smaller scope must never become a larger one. */
function grantPlaceOf({ scope, organization, projectRef, environmentRef }: ServiceTokenSpec): GrantPlace {
  if (scope === 'Environment' && environmentRef !== undefined) return slugsOf({ environmentRef });
  if (scope === 'Project' && projectRef !== undefined)
    return { organization: projectRef.organization, project: projectRef.name, environment: null };
  if (scope === 'Organization' && organization !== undefined) return { organization, project: null, environment: null };
  throw noPlace(scope);
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

/** The durations of a spec. The API server has validated them; an invalid one counts as absent. */
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

/** The metadata that a token Secret must have. Metadata from other sources is kept. */
export function secretMetadata(resource: ServiceToken, existing: ObjectMeta | undefined): SecretMeta {
  const { group, version, kind } = serviceTokenKind;
  const { name, uid } = resource.metadata;
  // Found by kind and name. With the uid of a deleted ServiceToken, the reference would let the Secret be collected.
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

/** Whether a Secret has the label, the annotation and the owner reference of its ServiceToken. */
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
