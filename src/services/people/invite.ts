import { randomUUID } from 'node:crypto';
import { DomainError } from '../../domain/errors/domain-error.ts';
import { limits } from '../../domain/limits.ts';
import type { Role } from '../../domain/principal.ts';
import type { TargetIds } from '../../store/access.ts';
import {
  countWaitingInvitations,
  endInvitationAt,
  findWaitingInvitation,
  insertInvitation,
  type InvitationRecord,
  type Invitee,
  readInvitation,
} from '../../store/invitations.ts';
import type { Candidate } from '../../store/members.ts';
import type { Transaction } from '../../store/transaction.ts';
import type { EnvironmentAccess, OrganizationAccess, ProjectAccess } from '../access/access.ts';
import { successRecord } from '../audit/audited.ts';
import type { Changed } from '../kernel/changed.ts';

export type { InvitationRecord } from '../../store/invitations.ts';

type InviteAccess =
  | OrganizationAccess<'member.set' | 'organization.set_role'>
  | ProjectAccess<'project.set_role'>
  | EnvironmentAccess<'environment.set_role'>;

/** What a change of roles returns for a user who has to accept first. */
export interface Invited {
  readonly invitation: InvitationRecord;
}

export interface Invite {
  readonly place: TargetIds;
  readonly candidate: Candidate;
  readonly role: Role;
  /** Whether an equal invitation that waits is replaced, so that tokens of the user until now count as their own. */
  readonly renew?: boolean;
}

/**
 * Stores a role for a user until the user accepts it, in place of any other that waits at this place. If the same caller
 * has invited the user with this role before, nothing changes. Lock the user and the place, and judge the change, before.
 * Throws DomainError quota_exceeded, and conflict for a user who is disabled.
 */
export async function invite(
  tx: Transaction,
  access: InviteAccess,
  { place, candidate, role, renew = false }: Invite,
): Promise<Changed<Invited>> {
  const { id: userId, email, isDisabled } = candidate;
  if (isDisabled) {
    throw new DomainError('conflict', `${email} is disabled and cannot accept an invitation; enable the user first`);
  }
  const invitedBy = access.caller.principal.id;
  const waiting = await findWaitingInvitation(tx, place, userId);
  const isEqual = waiting?.role === role && waiting.invitedById === invitedBy && !renew;
  const id = isEqual ? waiting.id : randomUUID();
  if (!isEqual) {
    const invitee = { userId };
    await endInvitationAt(tx, place, invitee, 'replaced');
    await checkCounts(tx, place.organizationId, { invitee, email });
    const hours = limits.invitationDays * 24;
    await insertInvitation(tx, place, { id, invitee, role, invitedBy, hours });
  }
  const invitation = await readInvitation(tx, id);
  if (invitation === undefined) throw new Error('an invitation that was inserted is there');
  return {
    result: { invitation },
    audit: successRecord(access, { userId, email, role, from: null, invitationId: id }),
  };
}

interface Counted {
  readonly invitee: Invitee;
  readonly email: string;
}

/** Throws DomainError quota_exceeded if one more invitation must not wait. Lock the place before. */
export async function checkCounts(tx: Transaction, organizationId: string, { invitee, email }: Counted): Promise<void> {
  const counts = await countWaitingInvitations(tx, organizationId, invitee);
  const { invitationsPerOrganization, invitationsPerUser, invitationsPerUserAndOrganization } = limits;
  if (counts.inOrganization >= invitationsPerOrganization) {
    throw tooMany(`in an organization, at most ${invitationsPerOrganization} invitations wait; withdraw some`);
  }
  if (counts.ofInviteeInOrganization >= invitationsPerUserAndOrganization) {
    throw tooMany(
      `at most ${invitationsPerUserAndOrganization} invitations of a user wait in one organization; after ${email} has ` +
        'accepted one of them, further roles there need no acceptance',
    );
  }
  if (counts.ofInvitee >= invitationsPerUser) {
    throw tooMany(`at most ${invitationsPerUser} invitations of a user wait; ${email} has to accept or decline some`);
  }
}

function tooMany(detail: string): DomainError {
  return new DomainError('quota_exceeded', detail);
}
