import { randomUUID } from 'node:crypto';
import { DomainError } from '../../domain/errors/domain-error.ts';
import { otherCreatorId, refusedCreator } from '../../domain/impersonation.ts';
import type { Role, UserPrincipal } from '../../domain/principal.ts';
import { mayGiveRole } from '../../domain/role-changes.ts';
import { type HeldTarget, holdStanding, holdUsers, type TargetIds } from '../../store/access.ts';
import type { Database } from '../../store/database.ts';
import {
  endInvitation,
  findInvitation,
  type FoundInvitation,
  type InvitationRecord,
  type InvitationState,
  listInvitations,
  listInvitationsOfUser,
  lockInvitation,
} from '../../store/invitations.ts';
import { type Candidate, findCandidate } from '../../store/members.ts';
import {
  type BoundRole,
  findRoleBinding,
  insertRoleBinding,
  lockPlace,
  notifySubject,
} from '../../store/role-bindings.ts';
import type { Transaction } from '../../store/transaction.ts';
import { holdActiveInstanceAdmin } from '../../store/users.ts';
import type { OrganizationAccess, PersonAccess } from '../access/access.ts';
import { impersonationRefusal, placeOf } from '../access/refusals.ts';
import type { AuditLog, AuditTarget } from '../audit/audit-log.ts';
import { type AuditedCall, auditedFailure, successRecord } from '../audit/audited.ts';
import { changeJudgedFirst } from '../change/change.ts';
import type { Changed } from '../kernel/changed.ts';
import { checkUuid } from '../kernel/checks.ts';
import { refuseForeignSignIns } from '../provenance/foreign-sign-in-refusal.ts';
import { type AddressInvitation, inviteAddress, type InvitedAddress } from './invite-address.ts';
import { makeMember } from './members.ts';
import { checkCount } from './role-bindings.ts';

export type { InvitationRecord } from '../../store/invitations.ts';

export interface InvitationsDeps {
  readonly database: Pick<Database, 'transactionPool' | 'pool'>;
  readonly audit: Pick<AuditLog, 'recordFailure'>;
}

type AnswerAccess = PersonAccess<'invitation.accept'> | PersonAccess<'invitation.decline'>;

/**
 * Roles that wait for the consent of their user (docs/people.md, "Invitations"). `Members.set` and `RoleBindings.set`
 * create those of users, and `create` those of addresses.
 */
export class Invitations {
  readonly #deps: InvitationsDeps;

  constructor(deps: InvitationsDeps) {
    this.#deps = deps;
  }

  /** The invitations that wait for the caller, by place. */
  async listOwn(access: PersonAccess<'invitation.list_own'>): Promise<readonly InvitationRecord[]> {
    return listInvitationsOfUser(this.#deps.database.pool, access.caller.principal.id);
  }

  /** The invitations that wait in an organization, by place and e-mail address. */
  async list(access: OrganizationAccess<'invitation.list'>): Promise<readonly InvitationRecord[]> {
    return listInvitations(this.#deps.database.pool, access.organizationId);
  }

  /** Invites an address that no user has (`inviteAddress`). */
  async create(access: OrganizationAccess<'invitation.create'>, wanted: AddressInvitation): Promise<InvitedAddress> {
    return inviteAddress(this.#deps, access, wanted);
  }

  /**
   * Gives the caller the role of an invitation of theirs. The change is judged again, by the present role of the user who
   * invited. Accepting it again changes nothing. Throws DomainError not_found for no invitation of the caller, conflict
   * if it does not wait, if its place is gone, if that user may no longer give the role, or if another user who is no
   * instance admin has a way to sign in as the caller, and forbidden for a token that does not count as the caller's own.
   */
  async accept(access: PersonAccess<'invitation.accept'>, id: string): Promise<InvitationRecord> {
    return this.#answer(access, id, async (found, call) => {
      const { principal } = access.caller;
      const place = idsOf(found);
      return changeJudgedFirst(this.#deps, access, {
        async lock(tx) {
          await holdUsers(tx, [principal.id, found.invitedById, ...creatorIds(principal)]);
          await lockPlace(tx, place);
        },
        async change(tx): Promise<Changed<InvitationRecord>> {
          const candidate = await readCandidate(tx, found.organizationId, principal.id);
          const standing = await holdStanding(tx, found.invitedById, place);
          const state = await lockInvitation(tx, id);
          const isRepeated = state?.outcome === 'accepted' && (await hasRole(tx, found, candidate));
          if (isRepeated) return { result: found, audit: null };
          requireWaiting(found, state);
          if (standing === undefined) throw gone(found);
          await requireConsent(tx, access, { found, standing });
          await requireRight(tx, found, standing);
          await give(tx, found, candidate);
          await endInvitation(tx, id, 'accepted');
          return { result: found, audit: successRecord(call) };
        },
      });
    });
  }

  /**
   * Ends an invitation of the caller without a role. Repeating it changes nothing. Throws DomainError not_found for no
   * invitation of the caller, conflict if it does not wait, and forbidden for a token that goes back to another user who is no
   * active instance admin.
   */
  async decline(access: PersonAccess<'invitation.decline'>, id: string): Promise<void> {
    const { principal } = access.caller;
    await this.#answer(access, id, async (found, call) =>
      changeJudgedFirst(this.#deps, access, {
        lock: (tx) => holdUsers(tx, [principal.id, ...creatorIds(principal)]),
        async change(tx) {
          const state = await lockInvitation(tx, id);
          if (state?.outcome === 'declined') return { result: undefined, audit: null };
          requireWaiting(found, state);
          await requireOwnToken(tx, access);
          await endInvitation(tx, id, 'declined');
          return { result: undefined, audit: successRecord(call) };
        },
      }),
    );
  }

  /** Ends an invitation that waits in the organization. Throws DomainError not_found for none. */
  async withdraw(access: OrganizationAccess<'invitation.withdraw'>, id: string): Promise<void> {
    const { organizationId, organization } = access;
    await auditedFailure(this.#deps.audit, access, async (note) => {
      checkUuid('id', id);
      note({ invitationId: id });
      const found = await findInvitation(this.#deps.database.pool, id);
      const absent = new DomainError('not_found', `no invitation ${id} waits in organization ${organization}`);
      if (found?.organizationId !== organizationId) throw absent;
      await changeJudgedFirst(this.#deps, access, {
        lock: (tx) => holdUsers(tx, [access.caller.principal.id]),
        async change(tx) {
          const state = await lockInvitation(tx, id);
          if (state?.outcome !== null || state.isExpired) throw absent;
          await endInvitation(tx, id, 'withdrawn');
          return { result: undefined, audit: successRecord(access, auditedInvitation(found)) };
        },
      });
    });
  }

  /** Finds an invitation of the caller, and audits what becomes of it in the chain of its organization. */
  async #answer<T>(
    access: AnswerAccess,
    id: string,
    change: (found: FoundInvitation, call: AuditedCall) => Promise<T>,
  ): Promise<T> {
    const { caller, action } = access;
    const call = { caller, organizationId: null, action, target: {} };
    const found = await auditedFailure(this.#deps.audit, call, async (note) => {
      checkUuid('id', id);
      note({ invitationId: id });
      const own = await findInvitation(this.#deps.database.pool, id);
      if (own?.userId === caller.principal.id) return own;
      throw new DomainError('not_found', `invitation ${id} does not exist, or is not yours`);
    });
    const known = { ...call, organizationId: found.organizationId, target: auditedInvitation(found) };
    return auditedFailure(this.#deps.audit, known, () => change(found, known));
  }
}

/**
 * Accepts an invitation of an address for the user that was just made of it; returns what the audit of the organization
 * records. Lock the user who invited and the place before. Throws DomainError conflict and quota_exceeded like
 * `Invitations.accept`.
 */
export async function acceptAsNewUser(tx: Transaction, found: FoundInvitation, userId: string): Promise<AuditTarget> {
  const standing = await holdStanding(tx, found.invitedById, idsOf(found));
  const state = await lockInvitation(tx, found.id);
  requireWaiting(found, state);
  if (standing === undefined) throw gone(found);
  await requireRight(tx, found, standing);
  await give(tx, found, await readCandidate(tx, found.organizationId, userId));
  await endInvitation(tx, found.id, 'accepted');
  return auditedInvitation({ ...found, userId });
}

/** Lets the place of an invitation be changed by one transaction at a time, as a change of its roles does. */
export async function lockPlaceOf(tx: Transaction, found: FoundInvitation): Promise<void> {
  await lockPlace(tx, idsOf(found));
}

/** Gives the role. The tokens of the user count as of the invitation: the user who invited could judge no later ones. */
async function give(tx: Transaction, found: FoundInvitation, candidate: Candidate): Promise<void> {
  const { organizationId, role, createdAt: confirmedAt } = found;
  if (await hasRole(tx, found, candidate)) {
    throw new DomainError('conflict', `you have a role on ${placeText(found)} already; decline the invitation`);
  }
  if (found.projectId === null) {
    await makeMember(tx, { organizationId, candidate, role, confirm: false, confirmedAt });
    return;
  }
  await checkCount(tx, organizationId);
  const subject = { userId: candidate.id };
  await insertRoleBinding(tx, idsOf(found), { id: randomUUID(), subject, role: boundRole(role), confirmedAt });
  await notifySubject(tx, subject);
}

/** Whether the user has a role of their own at exactly the place of the invitation. */
async function hasRole(tx: Transaction, found: FoundInvitation, candidate: Candidate): Promise<boolean> {
  if (found.projectId === null) return candidate.role !== null;
  return (await findRoleBinding(tx, idsOf(found), { userId: candidate.id })) !== undefined;
}

function boundRole(role: Role): BoundRole {
  if (role === 'owner') throw new Error('the database refuses the role owner at a place');
  return role;
}

/** Throws DomainError conflict for an invitation that does not wait, and says why. */
function requireWaiting(found: FoundInvitation, state: InvitationState | undefined): void {
  const ends = {
    accepted: 'you accepted this invitation, and the role was withdrawn since',
    declined: 'you declined this invitation',
    withdrawn: 'this invitation was withdrawn, or its place was deleted',
    replaced: 'this invitation was replaced by a later change; see which wait with `keyframe invitation list`',
  };
  if (state === undefined) throw gone(found);
  if (state.outcome !== null) throw new DomainError('conflict', `${ends[state.outcome]}; ${askAgain(found)}`);
  if (state.isExpired) throw new DomainError('conflict', `this invitation has expired; ${askAgain(found)}`);
}

function gone(found: FoundInvitation): DomainError {
  return new DomainError('conflict', `${placeText(found)} is deleted, so nothing can be accepted there`);
}

function lostRight(found: FoundInvitation): DomainError {
  const { invitedByEmail, role } = found;
  return new DomainError(
    'conflict',
    `${invitedByEmail}, who invited you, may no longer give the role ${role} on ${placeText(found)}; ${askAgain(found)}`,
  );
}

function askAgain(found: FoundInvitation): string {
  return `ask an owner or admin of organization ${found.organization} to invite you again`;
}

/**
 * Throws DomainError forbidden for a token that goes back to a user who is no active instance admin, and for one that the
 * organization of the invitation does not accept; conflict if another way to sign in goes back to such a user, who could
 * use the role. Lock both users before.
 */
async function requireConsent(
  tx: Transaction,
  access: PersonAccess<'invitation.accept'>,
  { found, standing }: { readonly found: FoundInvitation; readonly standing: HeldTarget | null },
): Promise<void> {
  const { principal } = access.caller;
  await requireOwnToken(tx, access);
  const confirmed = { role: null, confirmedAt: found.createdAt };
  const impersonationForbidden = standing?.impersonationForbidden === true;
  const creator = refusedCreator(principal, { ...confirmed, impersonationForbidden });
  if (creator !== null) throw impersonationRefusal(principal, creator, placeText(found));
  await refuseForeignSignIns(tx, { userId: principal.id, email: null, what: `the role ${found.role}` });
}

/** Throws DomainError forbidden for a token that goes back to a user who is no active instance admin. Lock that user before. */
async function requireOwnToken(tx: Transaction, access: AnswerAccess): Promise<void> {
  for (const creatorId of creatorIds(access.caller.principal)) {
    if (!(await holdActiveInstanceAdmin(tx, creatorId))) throw notOwn(access);
  }
}

/** The other user that the token of a user goes back to, if any. */
function creatorIds({ tokenCreator }: UserPrincipal): readonly string[] {
  const creatorId = otherCreatorId(tokenCreator);
  return creatorId === null ? [] : [creatorId];
}

/** Throws DomainError conflict if the user who invited may not give the role now. Lock that user before. */
async function requireRight(tx: Transaction, found: FoundInvitation, standing: HeldTarget | null): Promise<void> {
  const { isDisabled } = await readCandidate(tx, found.organizationId, found.invitedById);
  const level = found.projectId === null ? 'organization' : 'beneath';
  if (isDisabled || !mayGiveRole(standing?.role ?? null, found.role, level)) throw lostRight(found);
}

async function readCandidate(tx: Transaction, organizationId: string, userId: string): Promise<Candidate> {
  const candidate = await findCandidate(tx, organizationId, userId);
  if (candidate === undefined) throw new Error('users are never deleted');
  return candidate;
}

/** DomainError forbidden for a token that goes back to another user, who is no instance admin. */
function notOwn({ caller: { principal } }: AnswerAccess): DomainError {
  const name = principal.tokenCreator?.actor?.name ?? 'another user';
  return new DomainError(
    'forbidden',
    `only you can answer this invitation, and this token goes back to ${name}, who is no instance admin; ` +
      'answer it with a token of which that is not so: ask an instance admin to create one for you',
  );
}

function idsOf({ organizationId, projectId, environmentId }: FoundInvitation): TargetIds {
  return {
    organizationId,
    ...(projectId === null ? {} : { projectId }),
    ...(environmentId === null ? {} : { environmentId }),
  };
}

function slugsOf({ organization, project, environment }: InvitationRecord): Readonly<Record<string, string>> {
  return {
    organization,
    ...(project === null ? {} : { project }),
    ...(environment === null ? {} : { environment }),
  };
}

function placeText(invitation: InvitationRecord): string {
  return placeOf(slugsOf(invitation));
}

function auditedInvitation(invitation: InvitationRecord): AuditTarget {
  const { id: invitationId, userId, email, role, invitedById, invitedByEmail } = invitation;
  return { ...slugsOf(invitation), invitationId, userId, email, role, invitedById, invitedByEmail };
}
