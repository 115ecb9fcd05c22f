import { admins, everyRole } from './policy.ts';
import type { Role } from './principal.ts';

/** Who may give and withdraw which role, beyond the rules of the policy. Pure. */

/** A change of one membership; null stands for no membership. */
export interface MemberChange {
  /** The highest role of the caller in the organization, and whether the membership is the caller's. */
  readonly byRole: Role;
  readonly isSelf: boolean;
  /** Whether the membership is that of the other user to whom the caller's credential goes back. */
  readonly isDelegator: boolean;
  readonly from: Role | null;
  readonly to: Role | null;
  /** Number of other owners of the organization that are not disabled. */
  readonly otherOwners: number;
}

export type MemberChangeError = 'not_admin' | 'owner_only' | 'own_role' | 'delegator' | 'last_owner';

/**
 * Why a change of a membership is refused, or undefined. Every member may leave. Admins and owners may change others. Only
 * owners may appoint or remove owners. A caller, whose role may come from a group, does not raise their own membership,
 * also not with a credential of another user that they set up. The last owner cannot leave.
 */
export function memberChangeError(change: MemberChange): MemberChangeError | undefined {
  const { byRole, isSelf, isDelegator, from, to } = change;
  const leaves = isSelf && to === null;
  if (!leaves && !admins.includes(byRole)) return 'not_admin';
  if (byRole !== 'owner' && [from, to].includes('owner')) return 'owner_only';
  if (isRaise(from, to)) return raiseError({ isOwn: isSelf, isOfDelegator: isDelegator });
  return losesLastOwner(change) ? 'last_owner' : undefined;
}

/** Why a role is not given or raised, by whose it would be. */
function raiseError({
  isOwn,
  isOfDelegator,
}: Pick<RoleBindingChange, 'isOwn' | 'isOfDelegator'>): 'own_role' | 'delegator' | undefined {
  if (isOwn) return 'own_role';
  return isOfDelegator ? 'delegator' : undefined;
}

function losesLastOwner({ from, to, otherOwners }: MemberChange): boolean {
  return from === 'owner' && to !== 'owner' && otherOwners === 0;
}

/** A change of one role by place; null stands for no role. */
export interface RoleBindingChange {
  /** Whether the caller is an admin at the place. */
  readonly byAdmin: boolean;
  /** Whether the subject is the caller. */
  readonly isSelf: boolean;
  /** Whether the subject is the caller, or a group that the caller is in. */
  readonly isOwn: boolean;
  /** The same of the other user to whom the caller's credential goes back. */
  readonly isOfDelegator: boolean;
  readonly from: Role | null;
  readonly to: Role | null;
}

export type RoleBindingChangeError = Extract<MemberChangeError, 'not_admin' | 'own_role' | 'delegator'>;

/**
 * Why a change of a role by place is refused, or undefined. Users may give up a role. Only admins may make other changes;
 * no role by place is above admin, so none is above the role of the caller. Callers do not give or raise a role that
 * would be theirs, or that of the user who set up their credential.
 */
export function roleBindingChangeError(change: RoleBindingChange): RoleBindingChangeError | undefined {
  const { byAdmin, isSelf, isOwn, isOfDelegator, from, to } = change;
  if (!byAdmin && !(isSelf && to === null)) return 'not_admin';
  return isRaise(from, to) ? raiseError({ isOwn, isOfDelegator }) : undefined;
}

/** Whether a user with a role at a place may give another one there to a user who has none. Null for no role. */
export function mayGiveRole(byRole: Role | null, to: Role, level: 'organization' | 'beneath'): boolean {
  if (byRole === null) return false;
  const change = { isSelf: false, isDelegator: false, from: null, to };
  if (level === 'organization') return memberChangeError({ ...change, byRole, otherOwners: 0 }) === undefined;
  return (
    roleBindingChangeError({ ...change, isOwn: false, isOfDelegator: false, byAdmin: admins.includes(byRole) }) ===
    undefined
  );
}

/** Whether a role, or null for none, becomes a higher one. */
export function isRaise(from: Role | null, to: Role | null): boolean {
  return to !== null && (from === null || everyRole.indexOf(to) < everyRole.indexOf(from));
}
