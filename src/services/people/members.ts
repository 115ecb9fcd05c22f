import { DomainError, invalidField } from '../../domain/errors/domain-error.ts';
import { isOwnToken } from '../../domain/impersonation.ts';
import { isRaise, memberChangeError, type MemberChangeError } from '../../domain/role-changes.ts';
import type { Role } from '../../domain/principal.ts';
import { holdUsers } from '../../store/access.ts';
import type { Database } from '../../store/database.ts';
import {
  type Candidate,
  countOwners,
  deleteMember,
  findCandidate,
  findUserId,
  listMembers,
  lockMembers,
  lockMembersOf,
  type MemberRecord,
  setMember,
  type UserRef,
} from '../../store/members.ts';
import { endInvitationAt, withdrawInvitationsOfUser } from '../../store/invitations.ts';
import { notifyUsers } from '../../store/notify.ts';
import { listLiveTokenCreators } from '../../store/personal-tokens.ts';
import { deleteBindingsOfUser } from '../../store/role-bindings.ts';
import type { Transaction } from '../../store/transaction.ts';
import type { InstanceAccess, OrganizationAccess } from '../access/access.ts';
import { requireRecentSignIn } from '../access/refusals.ts';
import type { AuditLog, AuditTarget } from '../audit/audit-log.ts';
import { type AuditedCall, auditedFailure, successRecord } from '../audit/audited.ts';
import { checkSlug } from '../kernel/checks.ts';
import { changeJudgedFirst } from '../change/change.ts';
import type { OrganizationSlugs } from '../../domain/slugs.ts';
import { delegatorRefusal, foreignCreatorId, refuseForeignCreator } from '../provenance/foreign-creator.ts';
import { refuseForeignRaise, refuseForeignSignIns } from '../provenance/foreign-sign-in-refusal.ts';
import { type Invited, invite } from './invite.ts';
import { checkUserRef, noSuchUser, noteOfUser, textOfUser } from './user-refs.ts';

export type { MemberRecord, UserRef } from '../../store/members.ts';

export interface SetMember {
  readonly member: MemberRecord;
  /** Whether the user was not a member before. */
  readonly isNew: boolean;
}

/** The wanted membership. */
export interface WantedMember {
  readonly role: Role;
  readonly confirmTokens?: boolean;
}

export interface MembersDeps {
  readonly database: Pick<Database, 'transactionPool' | 'pool'>;
  readonly audit: Pick<AuditLog, 'recordFailure'>;
}

type ChangeAccess = OrganizationAccess<'member.set'> | OrganizationAccess<'member.remove'>;

const roles: readonly Role[] = ['owner', 'admin', 'developer', 'viewer'];

/** Who has which role in an organization (docs/interface.md 4, "Further routes"). */
export class Members {
  readonly #deps: MembersDeps;

  constructor(deps: MembersDeps) {
    this.#deps = deps;
  }

  /** All members, by e-mail address. */
  async list(access: OrganizationAccess<'member.list'>): Promise<readonly MemberRecord[]> {
    return listMembers(this.#deps.database.pool, access.organizationId);
  }

  /**
   * Gives a member another role. A user who has another role of their own in the organization becomes a member. Any other
   * user is invited, and becomes a member by accepting (`Invitations.accept`). With `confirmTokens`, which is for owners, the tokens that
   * the member created until now count as the member's own if impersonation is forbidden; so do those of a new member.
   * Throws DomainError forbidden for what `memberChangeError` refuses the caller, conflict for the last owner, for
   * an owner who is disabled, and for a higher role of a member as whom others can sign in (`refuseForeignRaise`),
   * not_found for no user, and what `invite` throws.
   */
  async set(
    access: OrganizationAccess<'member.set'>,
    ref: UserRef,
    wanted: WantedMember,
  ): Promise<SetMember | Invited> {
    const { role, confirmTokens = false } = wanted;
    const { organizationId } = access;
    return this.#change<SetMember | Invited>(access, ref, async (tx, candidate) => {
      if (!roles.includes(role)) throw invalidField('role', `must be one of ${roles.join(', ')}`);
      const byRole = await this.#judge(tx, access, { candidate, to: role });
      requireRecentSignInFor(access, candidate, { role, confirmTokens });
      if (confirmTokens && byRole !== 'owner') throw confirmedByOwnersOnly(access);
      if (candidate === undefined) throw noSuchUser(ref);
      const place = { organizationId };
      if (!candidate.hasOwnRole) return invite(tx, access, { place, candidate, role, renew: confirmTokens });
      const { id: userId, email, role: from } = candidate;
      // An owner who confirms them vouches for the member.
      if (!confirmTokens) await refuseForeignRaise(tx, candidate, { organizationId, from, to: role });
      const result = await makeMember(tx, { organizationId, candidate, role, confirm: confirmTokens });
      await endInvitationAt(tx, place, { userId }, 'replaced');
      const confirmed = confirmTokens ? { confirmTokens } : {};
      return { result, audit: successRecord(access, { userId, email, role, from, ...confirmed }) };
    });
  }

  /**
   * Ends a membership and all roles of the user in projects and environments, also in deleted ones, and with them the
   * user's access at the next request; members may end their own. A user who has only such roles loses them. Invitations
   * of the user are withdrawn. What groups give stays. Throws DomainError forbidden and conflict as `set` does, not_found for a user who has none of these.
   */
  async remove(access: OrganizationAccess<'member.remove'>, ref: UserRef): Promise<void> {
    const { organization, organizationId } = access;
    await this.#change(access, ref, async (tx, candidate) => {
      await this.#judge(tx, access, { candidate, to: null });
      if (candidate === undefined) throw noRoles(ref, organization);
      const { id: userId, email, role: from } = candidate;
      await deleteMember(tx, organizationId, userId);
      const rolesByPlace = await deleteBindingsOfUser(tx, organizationId, userId);
      const invitations = await withdrawInvitationsOfUser(tx, organizationId, userId);
      if (from === null && rolesByPlace + invitations === 0) throw noRoles(ref, organization);
      await notifyUsers(tx, [userId]);
      const removed = { ...(rolesByPlace > 0 ? { rolesByPlace } : {}), ...(invitations > 0 ? { invitations } : {}) };
      return { result: undefined, audit: successRecord(access, { userId, email, from, ...removed }) };
    });
  }

  /**
   * Makes a user the first owner of an organization that has no owner who is not disabled, such as one that a
   * SecretEnvironment made. The tokens that the user created until now count as the user's own there; those of a user
   * who is the owner already only if no other token of theirs works there. Throws DomainError conflict if it has one,
   * and as `makeOwner` does, not_found for no such organization or user, and forbidden for a credential that goes back to
   * another user who is no instance admin.
   */
  async appointOwner(
    access: InstanceAccess<'organization.appoint_owner'>,
    { organization }: OrganizationSlugs,
    ref: UserRef,
  ): Promise<SetMember> {
    const { caller, action } = access;
    const call: AuditedCall = { caller, organizationId: null, action, target: {} };
    return auditedFailure(this.#deps.audit, call, async (note) => {
      checkSlug('organization', organization);
      checkUserRef(ref);
      note({ organization, ...noteOfUser(ref) });
      let found: { readonly organizationId: string; readonly userId: string };
      return changeJudgedFirst(this.#deps, access, {
        async lock(tx) {
          const userId = await findUserId(tx, ref);
          await holdUsers(tx, userId === undefined ? [caller.principal.id] : [caller.principal.id, userId]);
          const organizationId = await lockMembersOf(tx, organization);
          if (organizationId === undefined) {
            throw new DomainError('not_found', `there is no organization ${organization}, or it is deleted`);
          }
          if (userId === undefined) throw noSuchUser(ref);
          found = { organizationId, userId };
        },
        async change(tx) {
          const { organizationId, userId } = found;
          await refuseForeignCreator(tx, caller.principal);
          // The only owner may be appointed again: the first response may have been lost.
          if ((await countOwners(tx, organizationId, userId)) > 0) throw hasOwner(organization);
          const made = await makeOwner(tx, organizationId, userId);
          if (made === undefined) throw noSuchUser(ref);
          const { result, target: of } = made;
          const target = { organization, ...of };
          return { result, audit: successRecord({ ...call, organizationId, target }) };
        },
      });
    });
  }

  /** Runs a change under the lock of the members, with the user that it is about, if there is one. */
  async #change<T>(
    access: ChangeAccess,
    ref: UserRef,
    change: (tx: Transaction, candidate: Candidate | undefined) => ReturnType<ChangeOf<T>>,
  ): Promise<T> {
    const { organizationId, caller } = access;
    return auditedFailure(this.#deps.audit, access, async (note) => {
      checkUserRef(ref);
      note(noteOfUser(ref));
      let userId: string | undefined;
      return changeJudgedFirst(this.#deps, access, {
        async lock(tx) {
          userId = await findUserId(tx, ref);
          // From here on neither can be disabled, so that a counted owner stays one.
          await holdUsers(tx, userId === undefined ? [caller.principal.id] : [caller.principal.id, userId]);
          await lockMembers(tx, organizationId);
        },
        change: async (tx) =>
          change(tx, userId === undefined ? undefined : await findCandidate(tx, organizationId, userId)),
      });
    });
  }

  /** Throws the policy's refusal of the change, judged by the present roles; returns the caller's role. */
  async #judge(
    tx: Transaction,
    access: ChangeAccess,
    { candidate, to }: { readonly candidate: Candidate | undefined; readonly to: Role | null },
  ): Promise<Role> {
    const { organizationId, caller, role: byRole } = access;
    if (byRole === null) throw new Error('a caller who may change members has a role in the organization');
    const reason = memberChangeError({
      byRole,
      isSelf: candidate?.id === caller.principal.id,
      isDelegator: candidate !== undefined && candidate.id === (await foreignCreatorId(tx, caller.principal)),
      from: candidate?.role ?? null,
      to,
      otherOwners: await countOwners(tx, organizationId, candidate?.id ?? null),
    });
    if (reason !== undefined) throw refusalOf(reason, access, byRole);
    return byRole;
  }
}

/** Throws DomainError recent_sign_in_required for a higher role, and for tokens that are confirmed. */
function requireRecentSignInFor(
  access: ChangeAccess,
  candidate: Candidate | undefined,
  { role, confirmTokens }: Required<WantedMember>,
): void {
  if (isRaise(candidate?.role ?? null, role)) requireRecentSignIn(access, `giving the role ${role}`);
  if (confirmTokens) requireRecentSignIn(access, 'confirming the tokens of a member');
}

type ChangeOf<T> = Parameters<typeof changeJudgedFirst<T>>[2]['change'];

interface MadeOwner {
  readonly result: SetMember;
  /** What the audit says of it. */
  readonly target: AuditTarget;
}

/**
 * Makes a user an owner of an organization that has no other one. Lock the user and the members before. Returns undefined
 * if there is no such user. Throws DomainError conflict for one who is disabled, and for one as whom others can sign in
 * (`refuseForeignSignIns`): so it confirms none of their tokens.
 */
export async function makeOwner(
  tx: Transaction,
  organizationId: string,
  userId: string,
): Promise<MadeOwner | undefined> {
  const candidate = await findCandidate(tx, organizationId, userId);
  if (candidate === undefined) return undefined;
  const confirm = candidate.role !== 'owner' || !(await hasOwnToken(tx, candidate));
  const { email, role: from } = candidate;
  await refuseForeignSignIns(tx, { userId, email, what: 'the role owner' });
  const result = await makeMember(tx, { organizationId, candidate, role: 'owner', confirm });
  await endInvitationAt(tx, { organizationId }, { userId }, 'replaced');
  return { result, target: { userId, email, role: 'owner', from, ...(confirm ? { confirmTokens: true } : {}) } };
}

/** Gives a user a role, which they may have already. Throws DomainError conflict for an owner who is disabled. */
export async function makeMember(
  tx: Transaction,
  { organizationId, candidate, role, confirm, confirmedAt }: MadeMember,
): Promise<SetMember> {
  const { id: userId, email, displayName, isDisabled, role: from } = candidate;
  if (role === 'owner' && isDisabled) {
    throw new DomainError('conflict', `${email} is disabled and cannot become an owner; choose another user`);
  }
  const createdAt = await setMember(tx, { organizationId, userId, role, confirm, confirmedAt });
  await notifyUsers(tx, [userId]);
  return { member: { userId, email, displayName, role, createdAt }, isNew: from === null };
}

interface MadeMember {
  readonly organizationId: string;
  readonly candidate: Candidate;
  readonly role: Role;
  readonly confirm: boolean;
  /** As in `NewMembership`. */
  readonly confirmedAt?: Date;
}

/** Whether a member has a live token that counts as their own if impersonation is forbidden. */
async function hasOwnToken(tx: Transaction, { id, confirmedAt }: Candidate): Promise<boolean> {
  const creators = await listLiveTokenCreators(tx, id);
  return creators.some((creator) => isOwnToken(creator, { confirmedAt }));
}

function confirmedByOwnersOnly({ action, organization }: ChangeAccess): DomainError {
  return new DomainError(
    'forbidden',
    `${action} with confirmTokens is for owners of organization ${organization}; ask one, or leave confirmTokens out`,
  );
}

function noRoles(ref: UserRef, organization: string): DomainError {
  return new DomainError(
    'not_found',
    `${textOfUser(ref)} is no member of organization ${organization}, has no role of their own within it, and is not invited`,
  );
}

function hasOwner(organization: string): DomainError {
  return new DomainError(
    'conflict',
    `organization ${organization} has an owner, who appoints others; only one that has none is given its first here`,
  );
}

function refusalOf(reason: MemberChangeError, access: ChangeAccess, role: Role): DomainError {
  if (reason === 'delegator') return delegatorRefusal(access);
  const { action, organization } = access;
  const place = `organization ${organization}`;
  const details = {
    not_admin: [
      'forbidden',
      `the role ${role} allows ${action} on ${place} for oneself alone; ask an owner or admin of the organization`,
    ],
    owner_only: ['forbidden', `only an owner of ${place} makes or unmakes an owner; ask one`],
    own_role: ['forbidden', `${action} on ${place} cannot give oneself a higher role; ask another owner or admin`],
    last_owner: [
      'conflict',
      `this is the last owner of ${place} who is not disabled; make another member an owner first`,
    ],
  } as const;
  const [code, detail] = details[reason];
  return new DomainError(code, detail);
}
