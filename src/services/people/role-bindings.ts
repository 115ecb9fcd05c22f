import { randomUUID } from 'node:crypto';
import { DomainError, invalidField } from '../../domain/errors/domain-error.ts';
import { limits } from '../../domain/limits.ts';
import type { Action } from '../../domain/policy.ts';
import { isRaise, roleBindingChangeError, type RoleBindingChangeError } from '../../domain/role-changes.ts';
import { holdUsers, type TargetIds } from '../../store/access.ts';
import type { Database } from '../../store/database.ts';
import { endInvitationAt } from '../../store/invitations.ts';
import { type Candidate, findCandidate, findUserId, type UserRef } from '../../store/members.ts';
import {
  type BindingPosition,
  type BoundRole,
  countRoleBindings,
  deleteRoleBinding,
  findRoleBinding,
  insertRoleBinding,
  isInGroup,
  listRoleBindings,
  lockPlace,
  notifySubject,
  type PresentBinding,
  type RoleBindingRecord,
  setBoundRole,
  type Subject,
} from '../../store/role-bindings.ts';
import type { Transaction } from '../../store/transaction.ts';
import type { EnvironmentAccess, OrganizationAccess, ProjectAccess } from '../access/access.ts';
import { placeOf, requireRecentSignIn } from '../access/refusals.ts';
import type { AuditLog, AuditTarget } from '../audit/audit-log.ts';
import { auditedFailure, type Note, successRecord } from '../audit/audited.ts';
import { changeJudgedFirst } from '../change/change.ts';
import type { Changed } from '../kernel/changed.ts';
import { checkName, isUuid } from '../kernel/checks.ts';
import { badCursor, checkLimit, decodeCursor, encodeCursor, type PageRequest } from '../kernel/page.ts';
import { delegatorRefusal, foreignCreatorId } from '../provenance/foreign-creator.ts';
import { refuseForeignRaise } from '../provenance/foreign-sign-in-refusal.ts';
import { type Invited, invite } from './invite.ts';
import { checkUserRef, noSuchUser, noteOfUser, textOfUser } from './user-refs.ts';

export type { RoleBindingRecord } from '../../store/role-bindings.ts';

/** Who gets a role: a user, or a group of the identity provider by its name there. */
export type SubjectRef = UserRef | { readonly group: string };

export interface SetRoleBinding {
  readonly binding: RoleBindingRecord;
  /** Whether the subject had no role at this place before. */
  readonly isNew: boolean;
}

export interface RoleBindingList {
  /** By project, environment and subject. */
  readonly bindings: readonly RoleBindingRecord[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

export type ListRolesAccess =
  | OrganizationAccess<'organization.list_roles'>
  | ProjectAccess<'project.list_roles'>
  | EnvironmentAccess<'environment.list_roles'>;

export type SetRoleAccess =
  | OrganizationAccess<'organization.set_role'>
  | ProjectAccess<'project.set_role'>
  | EnvironmentAccess<'environment.set_role'>;

export type RemoveRoleAccess =
  | OrganizationAccess<'organization.remove_role'>
  | ProjectAccess<'project.remove_role'>
  | EnvironmentAccess<'environment.remove_role'>;

type ChangeAccess = SetRoleAccess | RemoveRoleAccess;

export interface RoleBindingsDeps {
  readonly database: Pick<Database, 'transactionPool' | 'pool'>;
  readonly audit: Pick<AuditLog, 'recordFailure'>;
}

/** What a change of a role binding finds under its locks. */
interface Found {
  readonly subject: Subject;
  /** Undefined for a group. */
  readonly user: Candidate | undefined;
  readonly present: PresentBinding | undefined;
}

/**
 * Roles by place (docs/people.md): of users in projects and environments, and of groups at any place. The role of a user
 * in an organization is a membership.
 */
export class RoleBindings {
  readonly #deps: RoleBindingsDeps;

  constructor(deps: RoleBindingsDeps) {
    this.#deps = deps;
  }

  /** A page of the role bindings at a place and beneath it. Throws DomainError invalid_input for a bad limit or cursor. */
  async list(access: ListRolesAccess, request: PageRequest = {}): Promise<RoleBindingList> {
    const limit = checkLimit(request) ?? limits.pageSize;
    const after = request.cursor === undefined ? null : positionOf(request.cursor);
    const found = await listRoleBindings(this.#deps.database.pool, idsOf(access), { after, limit: limit + 1 });
    const bindings = found.slice(0, limit);
    const last = bindings.at(-1);
    return { bindings, nextCursor: found.length > limit && last !== undefined ? cursorOf(last) : null };
  }

  /**
   * Gives a subject a role at a place, or another role. A user who has no role of their own in the organization is
   * invited, and gets it by accepting (`Invitations.accept`). Throws DomainError forbidden if callers would give it to
   * themselves or to a group that they are in, invalid_input for a user in an organization, not_found for no such user,
   * conflict for a higher role of a user as whom others can sign in (`refuseForeignRaise`), quota_exceeded, and what
   * `invite` throws.
   */
  async set(access: SetRoleAccess, ref: SubjectRef, role: BoundRole): Promise<SetRoleBinding | Invited> {
    return this.#change<SetRoleBinding | Invited>(access, { ref, to: role }, async (tx, found) => {
      const { subject, user, present } = found;
      const place = idsOf(access);
      const from = present?.role ?? null;
      requireRecentSignInToRaise(access, from, role);
      if (user?.hasOwnRole === false) return invite(tx, access, { place, candidate: user, role });
      if (user !== undefined) {
        await refuseForeignRaise(tx, user, { organizationId: access.organizationId, from, to: role });
        await endInvitationAt(tx, place, { userId: user.id }, 'replaced');
      }
      const id = present?.id ?? randomUUID();
      if (present === undefined) await checkCount(tx, access.organizationId);
      const createdAt =
        present === undefined
          ? await insertRoleBinding(tx, place, { id, subject, role })
          : await setBoundRole(tx, id, role);
      await notifySubject(tx, subject);
      const binding = { ...recordOf(access, subject, user), id, role, createdAt };
      const audit = successRecord(access, { ...auditedSubject(subject, user), role, from });
      return { result: { binding, isNew: present === undefined }, audit };
    });
  }

  /**
   * Withdraws a role at a place, and an invitation for one; users may give up their own. Throws DomainError not_found if
   * there is none, and forbidden for a caller who is no admin.
   */
  async remove(access: RemoveRoleAccess, ref: SubjectRef): Promise<void> {
    await this.#change(access, { ref, to: null }, async (tx, { subject, user, present }) => {
      const invitations =
        user === undefined ? 0 : await endInvitationAt(tx, idsOf(access), { userId: user.id }, 'withdrawn');
      if (present === undefined && invitations === 0) throw noBinding(access, ref);
      if (present !== undefined) await deleteRoleBinding(tx, present.id);
      await notifySubject(tx, subject);
      const withdrawn = invitations > 0 ? { invitations } : {};
      const audited = { ...auditedSubject(subject, user), from: present?.role ?? null, ...withdrawn };
      const audit = successRecord(access, audited);
      return { result: undefined, audit };
    });
  }

  /**
   * Runs a change under the lock of the place, with what there is for the subject. The policy judges before a missing
   * user is reported, so that only admins learn whether an address belongs to a user.
   */
  async #change<T>(
    access: ChangeAccess,
    { ref, to }: { readonly ref: SubjectRef; readonly to: BoundRole | null },
    change: (tx: Transaction, found: Found) => Promise<Changed<T>>,
  ): Promise<T> {
    return auditedFailure(this.#deps.audit, access, async (note) => {
      checkSubject(access, ref, note);
      const callerId = access.caller.principal.id;
      let userId: string | undefined;
      return changeJudgedFirst(this.#deps, access, {
        async lock(tx) {
          if (!('group' in ref)) userId = await findUserId(tx, ref);
          await holdUsers(tx, userId === undefined ? [callerId] : [callerId, userId]);
          await lockPlace(tx, idsOf(access));
        },
        async change(tx) {
          const user = userId === undefined ? undefined : await findCandidate(tx, access.organizationId, userId);
          const isAbsent = !('group' in ref) && user === undefined;
          const present = isAbsent ? undefined : await findRoleBinding(tx, idsOf(access), subjectOf(ref, user));
          const isSelf = user?.id === callerId;
          const isOf = async (id: string): Promise<boolean> =>
            'group' in ref ? isInGroup(tx, id, ref.group) : user?.id === id;
          const delegatorId = await foreignCreatorId(tx, access.caller.principal);
          const isOwn = await isOf(callerId);
          const isOfDelegator = delegatorId !== null && (await isOf(delegatorId));
          const byAdmin = access.allows(setActionOf(access));
          const reason = roleBindingChangeError({
            byAdmin,
            isSelf,
            isOwn,
            isOfDelegator,
            from: present?.role ?? null,
            to,
          });
          if (reason !== undefined) throw refusalOf(reason, access);
          return change(tx, { subject: subjectOf(ref, user), user, present });
        },
      });
    });
  }
}

/** Throws DomainError recent_sign_in_required for a higher role. */
function requireRecentSignInToRaise(access: SetRoleAccess, from: BoundRole | null, to: BoundRole): void {
  if (isRaise(from, to)) requireRecentSignIn(access, `giving the role ${to}`);
}

const listName = 'role-bindings';

function cursorOf({ project, environment, email, group, id }: RoleBindingRecord): string {
  return encodeCursor(listName, [project ?? '', environment ?? '', email ?? group ?? '', id]);
}

function positionOf(cursor: string): BindingPosition {
  const [project = '', environment = '', subject = '', id = ''] = decodeCursor(listName, cursor, 4);
  if (!isUuid(id) || [project, environment, subject].some((text) => text.includes('\0'))) throw badCursor();
  return { project, environment, subject, id };
}

function idsOf(access: ListRolesAccess | ChangeAccess): TargetIds {
  const { organizationId } = access;
  if ('environmentId' in access)
    return { organizationId, projectId: access.projectId, environmentId: access.environmentId };
  return 'projectId' in access ? { organizationId, projectId: access.projectId } : { organizationId };
}

/** The place of a binding, and who has it. */
function recordOf(
  access: SetRoleAccess,
  subject: Subject,
  user: Candidate | undefined,
): Omit<RoleBindingRecord, 'id' | 'role' | 'createdAt'> {
  return {
    project: 'project' in access ? access.project : null,
    environment: 'environment' in access ? access.environment : null,
    userId: user?.id ?? null,
    email: user?.email ?? null,
    displayName: user?.displayName ?? null,
    group: 'group' in subject ? subject.group : null,
  };
}

/** Throws DomainError invalid_input for a malformed subject, and for a user in a whole organization. */
function checkSubject(access: ChangeAccess, ref: SubjectRef, note: Note): void {
  if ('group' in ref) {
    checkName('group', ref.group);
    note({ group: ref.group });
    return;
  }
  checkUserRef(ref);
  note(noteOfUser(ref));
  if ('projectId' in access) return;
  throw invalidField(
    'subject',
    'must be a group: the role of a user in an organization is a membership (`keyframe member set`)',
  );
}

/** Throws DomainError not_found for a user that does not exist. */
function subjectOf(ref: SubjectRef, user: Candidate | undefined): Subject {
  if ('group' in ref) return { group: ref.group };
  if (user === undefined) throw noSuchUser(ref);
  return { userId: user.id };
}

function auditedSubject(subject: Subject, user: Candidate | undefined): AuditTarget {
  return user === undefined ? { ...subject } : { userId: user.id, email: user.email };
}

/** Throws DomainError quota_exceeded if an organization has as many role bindings as it can have. */
export async function checkCount(tx: Transaction, organizationId: string): Promise<void> {
  if ((await countRoleBindings(tx, organizationId)) < limits.roleBindingsPerOrganization) return;
  throw new DomainError(
    'quota_exceeded',
    `an organization holds at most ${limits.roleBindingsPerOrganization} roles by place; remove some, or give roles to groups`,
  );
}

function refusalOf(reason: RoleBindingChangeError, access: ChangeAccess): DomainError {
  if (reason === 'delegator') return delegatorRefusal(access);
  const details = {
    not_admin: `${access.action} on ${placeText(access)} is for admins, except for a role of one's own; ask an owner or admin`,
    own_role: `${access.action} cannot give a role to oneself, or to a group that one is in; ask another owner or admin`,
  };
  return new DomainError('forbidden', details[reason]);
}

function setActionOf(access: ChangeAccess): Action {
  if ('environmentId' in access) return 'environment.set_role';
  return 'projectId' in access ? 'project.set_role' : 'organization.set_role';
}

function noBinding(access: ChangeAccess, ref: SubjectRef): DomainError {
  const subject = 'group' in ref ? `group ${ref.group}` : textOfUser(ref);
  return new DomainError(
    'not_found',
    `${subject} has no role of its own on ${placeText(access)}, and no invitation to it`,
  );
}

function placeText(access: ChangeAccess): string {
  const { organization } = access;
  if ('environment' in access)
    return placeOf({ organization, project: access.project, environment: access.environment });
  return 'project' in access ? placeOf({ organization, project: access.project }) : placeOf({ organization });
}
