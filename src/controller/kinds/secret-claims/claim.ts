import type { ObjectMeta } from '../../../kube/client/objects.ts';
import { ownedByAnnotation, ownedByTokenAnnotation, tokenLabel } from '../../annotations.ts';
import { isDnsName } from '../../../domain/kubernetes-names.ts';

/** Who may create a Secret that several resources of its namespace write. Pure. */

/** A resource that writes a Secret. */
export interface Claimant {
  readonly kind: 'SecretSync' | 'ServiceToken';
  readonly name: string;
}

export interface SecretClaim extends Claimant {
  /** Whether it merges keys into a Secret that something else creates. */
  readonly isMerge: boolean;
  /** When the resource was created, as RFC 3339; undefined if unknown. */
  readonly createdAt: string | undefined;
  /** When it last wrote the Secret, as RFC 3339; undefined if it never did, or if the Secret belonged to another since. */
  readonly heldAt: string | undefined;
}

/**
 * The claim that decides who may create a Secret: of the resource that held it last, otherwise of the oldest. A merge creates
 * no Secret, so it counts only if it held keys last: then the Secret belonged to something else.
 */
export function holderAmong(claims: readonly SecretClaim[]): SecretClaim | undefined {
  const counted = claims.filter(({ isMerge, heldAt }) => !isMerge || heldAt !== undefined);
  return counted.reduce<SecretClaim | undefined>(
    (first, claim) => (first === undefined || byPrecedence(claim, first) < 0 ? claim : first),
    undefined,
  );
}

function byPrecedence(one: SecretClaim, other: SecretClaim): number {
  return (
    compared(other.heldAt ?? '', one.heldAt ?? '') ||
    compared(one.createdAt ?? '', other.createdAt ?? '') ||
    // One manifest creates many resources in a second. Names decide in the same way in a rebuilt cluster, and uids would not.
    compared(one.kind, other.kind) ||
    compared(one.name, other.name)
  );
}

function compared(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** What a Secret belongs to by its label and annotations. The name is undefined if it is none. */
export interface SecretOwner {
  readonly kind: Claimant['kind'];
  readonly name: string | undefined;
}

/** What a Secret belongs to; undefined if to nothing of Keyframe. Annotations are untrusted input. */
export function ownerOf({ labels, annotations }: ObjectMeta): SecretOwner | undefined {
  const sync = annotations?.[ownedByAnnotation];
  if (sync !== undefined) return { kind: 'SecretSync', name: nameOf(sync) };
  const token = annotations?.[ownedByTokenAnnotation];
  if (token === undefined && labels?.[tokenLabel] === undefined) return undefined;
  return { kind: 'ServiceToken', name: nameOf(token) };
}

function nameOf(text: string | undefined): string | undefined {
  return text !== undefined && isDnsName(text) ? text : undefined;
}

/** `SecretSync web`; only the kind if the name is unknown. */
export function ownerText({ kind, name }: SecretOwner): string {
  return name === undefined ? `a ${kind}` : `the ${kind} ${name}`;
}
