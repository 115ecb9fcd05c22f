import type { InvitationRecord } from '../../services/people/invitations.ts';
import {
  acceptInvitation,
  declineInvitation,
  listInvitations,
  listOrganizationInvitations,
  withdrawInvitation,
} from '../../wire/contract/invitations.ts';
import type { InvitationView } from '../../wire/invitations.ts';
import { organizationRoute, personRoute, type Route } from '../route.ts';

/** docs/interface.md 4.17 */
export const invitationRoutes: readonly Route[] = [
  personRoute({
    ...listInvitations,
    action: 'invitation.list_own',
    async handle({ invitations }, access) {
      const list = await invitations.listOwn(access);
      return { status: 200, body: { invitations: list.map(invitationViewOf), nextCursor: null } };
    },
  }),
  personRoute({
    ...acceptInvitation,
    action: 'invitation.accept',
    async handle({ invitations }, access, { params }) {
      return { status: 200, body: invitationViewOf(await invitations.accept(access, params.id)) };
    },
  }),
  personRoute({
    ...declineInvitation,
    action: 'invitation.decline',
    async handle({ invitations }, access, { params }) {
      await invitations.decline(access, params.id);
      return { status: 204 };
    },
  }),
  organizationRoute({
    ...listOrganizationInvitations,
    action: 'invitation.list',
    async handle({ invitations }, access) {
      const list = await invitations.list(access);
      return { status: 200, body: { invitations: list.map(invitationViewOf), nextCursor: null } };
    },
  }),
  organizationRoute({
    ...withdrawInvitation,
    action: 'invitation.withdraw',
    async handle({ invitations }, access, { params }) {
      await invitations.withdraw(access, params.id);
      return { status: 204 };
    },
  }),
];

export function invitationViewOf(record: InvitationRecord): InvitationView {
  const { id, organization, project, environment, userId, email, displayName, role } = record;
  return {
    id,
    organization,
    project,
    environment,
    user: { id: userId, email, displayName },
    role,
    invitedBy: { id: record.invitedById, email: record.invitedByEmail },
    createdAt: record.createdAt.toISOString(),
    expiresAt: record.expiresAt.toISOString(),
  };
}
