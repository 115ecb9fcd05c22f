import { randomUUID } from 'node:crypto';
import { DomainError, invalidField } from '../../domain/errors/domain-error.ts';
import { limits } from '../../domain/limits.ts';
import type { Plaintext } from '../../domain/plaintext.ts';
import type { Role, UserPrincipal } from '../../domain/principal.ts';
import { mayGiveRole } from '../../domain/role-changes.ts';
import {
  findEnvironmentTargets,
  findProjectTarget,
  holdStanding,
  holdUsers,
  type TargetIds,
} from '../../store/access.ts';
import type { Database } from '../../store/database.ts';
import { endInvitationAt, insertInvitation, readInvitation } from '../../store/invitations.ts';
import { lockPlace } from '../../store/role-bindings.ts';
import type { Transaction } from '../../store/transaction.ts';
import { hasAddress, lockAddress } from '../../store/users.ts';
import type { OrganizationAccess } from '../access/access.ts';
import { placeOf } from '../access/refusals.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import { auditedFailure, successRecord } from '../audit/audited.ts';
import { changeJudgedFirst } from '../change/change.ts';
import { checkSlug } from '../kernel/checks.ts';
import { delegatorsOfNew } from '../kernel/delegators.ts';
import { createSignInLink } from '../provenance/create-sign-in-link.ts';
import { foreignCreatorId } from '../provenance/foreign-creator.ts';
import { checkCounts, type Invited } from './invite.ts';
import { checkUserRef } from './user-refs.ts';

/** The wanted invitation of an address. */
export interface AddressInvitation {
  /** In lower case. */
  readonly email: string;
  /** The role owner only without a project. */
  readonly role: Role;
  /** Slugs; without them the role counts in the whole organization. */
  readonly project?: string;
  readonly environment?: string;
}

/** An invitation of an address that no user has, and its link. */
export interface InvitedAddress extends Invited {
  /** Of the link: shown this once, only its hash is stored. */
  readonly token: Plaintext;
  /** When both end. */
  readonly expiresAt: Date;
}

export interface InviteAddressDeps {
  readonly database: Pick<Database, 'transactionPool' | 'pool'>;
  readonly audit: Pick<AuditLog, 'recordFailure'>;
}

type CreateAccess = OrganizationAccess<'invitation.create'>;

/**
 * Invites an address that no user has, and creates the link with which its person becomes a user and gets the role
 * (`SignInLinks.redeem`). It replaces the invitation of the address that waits at this place, whose link ends. Throws
 * DomainError conflict if a user has the address, forbidden if the caller cannot give the role, not_found for no such
 * project or environment, invalid_input, quota_exceeded.
 */
export async function inviteAddress(
  deps: InviteAddressDeps,
  access: CreateAccess,
  wanted: AddressInvitation,
): Promise<InvitedAddress> {
  const { email, role } = wanted;
  const principal = personOf(access);
  const { id: callerId, credentialId } = principal;
  return auditedFailure(deps.audit, access, async (note) => {
    checkWanted(wanted);
    const target = { ...slugsOf(access, wanted), email, role };
    note(target);
    const place = await findPlace(deps, access, wanted);
    return changeJudgedFirst(deps, access, {
      async lock(tx) {
        await holdUsers(tx, [callerId]);
        await lockAddress(tx, email);
        await lockPlace(tx, place);
      },
      async change(tx) {
        const standing = await holdStanding(tx, callerId, place);
        if (standing === undefined) throw absentPlace(access, wanted);
        const level = place.projectId === undefined ? 'organization' : 'beneath';
        if (!mayGiveRole(standing?.role ?? null, role, level)) throw cannotGive(access, role);
        if (await hasAddress(tx, email)) throw belongsToUser(email);
        const createdBy = (await foreignCreatorId(tx, principal)) ?? callerId;
        const delegators = await delegatorsOfNew(tx, principal, null);
        const invitation = { email, role, invitedBy: callerId, createdBy, credentialId, delegators };
        const result = await insert(tx, place, invitation);
        const more = { ...target, invitationId: result.invitation.id, expiresAt: result.expiresAt.toISOString() };
        return { result, audit: successRecord(access, more) };
      },
    });
  });
}

interface NewAddressInvitation extends Pick<AddressInvitation, 'email' | 'role'> {
  readonly invitedBy: string;
  /**
   * The user who counts as the creator of the link: the one who invites, or the user who is no instance admin and to whom
   * the credential goes back. That user may have seen the link.
   */
  readonly createdBy: string;
  /** The credential of the user who invites. */
  readonly credentialId: string;
  readonly delegators: readonly string[];
}

async function insert(
  tx: Transaction,
  place: TargetIds,
  { email, role, invitedBy, createdBy, credentialId, delegators }: NewAddressInvitation,
): Promise<InvitedAddress> {
  const invitee = { address: email };
  await endInvitationAt(tx, place, invitee, 'replaced');
  await checkCounts(tx, place.organizationId, { invitee, email });
  const id = randomUUID();
  await insertInvitation(tx, place, { id, invitee, role, invitedBy, hours: limits.signInLinkHours });
  const link = { subject: { invitationId: id }, createdBy, credentialId, delegators };
  const { token, expiresAt } = await createSignInLink(tx, link);
  const invitation = await readInvitation(tx, id);
  if (invitation === undefined) throw new Error('an invitation that was inserted is there');
  return { invitation, token, expiresAt };
}

/** The person who invites: no service token gives a role. */
function personOf({ caller: { principal } }: CreateAccess): UserPrincipal {
  if (principal.type !== 'user') throw new Error('an admin of an organization is a person');
  return principal;
}

/** Throws DomainError invalid_input. */
function checkWanted({ email, role, project, environment }: AddressInvitation): void {
  checkUserRef({ email }, 'email');
  if (project !== undefined) checkSlug('project', project);
  if (environment !== undefined) checkSlug('environment', environment);
  if (environment !== undefined && project === undefined) throw invalidField('project', 'is required with environment');
  if (role === 'owner' && project !== undefined) {
    throw invalidField('role', 'must be admin, developer or viewer; owner is a role of the organization alone');
  }
}

/** The ids of the place of a wanted invitation. Throws DomainError not_found. */
async function findPlace(
  { database: { pool } }: InviteAddressDeps,
  access: CreateAccess,
  wanted: AddressInvitation,
): Promise<TargetIds> {
  const { organizationId, organization } = access;
  const { project, environment } = wanted;
  if (project === undefined) return { organizationId };
  const asked = { userId: null, organization, project };
  const [found] =
    environment === undefined
      ? [await findProjectTarget(pool, null, [organization, project])]
      : await findEnvironmentTargets(pool, [{ ...asked, environment }]);
  // The slug of the organization may be that of another one by now.
  if (found?.organizationId !== organizationId) throw absentPlace(access, wanted);
  const { projectId } = found;
  return 'environmentId' in found
    ? { organizationId, projectId, environmentId: found.environmentId }
    : { organizationId, projectId };
}

function slugsOf(
  { organization }: CreateAccess,
  { project, environment }: AddressInvitation,
): Readonly<Record<string, string>> {
  return {
    organization,
    ...(project === undefined ? {} : { project }),
    ...(environment === undefined ? {} : { environment }),
  };
}

function absentPlace(access: CreateAccess, wanted: AddressInvitation): DomainError {
  return new DomainError('not_found', `${placeOf(slugsOf(access, wanted))} does not exist`);
}

function cannotGive({ action, organization }: CreateAccess, role: Role): DomainError {
  const who = role === 'owner' ? 'an owner' : 'an owner or admin';
  return new DomainError('forbidden', `${action} with the role ${role} is for ${who} of organization ${organization}`);
}

function belongsToUser(email: string): DomainError {
  return new DomainError(
    'conflict',
    `${email} is the e-mail address of a user already, who needs no link; ` +
      'invite the user with `keyframe member set` or `keyframe role set`',
  );
}
