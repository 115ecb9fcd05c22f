import type { InvitationRecord } from '../../services/people/invitations.ts';
import { invitationListView, invitationParams, type InvitationView, invitationView } from '../../wire/invitations.ts';
import { organizationRoute, personRoute, type Route } from '../route.ts';

/** docs/interface.md 4.17 */
export const invitationRoutes: readonly Route[] = [
  personRoute({
    method: 'GET',
    path: '/invitations',
    action: 'invitation.list_own',
    operation: 'listInvitations',
    summary: 'List the invitations that wait for you',
    input: {},
    responses: { 200: invitationListView },
    async handle({ invitations }, access) {
      const list = await invitations.listOwn(access);
      return { status: 200, body: { invitations: list.map(invitationViewOf), nextCursor: null } };
    },
  }),
  personRoute({
    method: 'POST',
    path: '/invitations/{id}/accept',
    action: 'invitation.accept',
    operation: 'acceptInvitation',
    summary: 'Accept an invitation, which gives you its role',
    input: { params: invitationParams },
    responses: { 200: invitationView },
    async handle({ invitations }, access, { params }) {
      return { status: 200, body: invitationViewOf(await invitations.accept(access, params.id)) };
    },
  }),
  personRoute({
    method: 'POST',
    path: '/invitations/{id}/decline',
    action: 'invitation.decline',
    operation: 'declineInvitation',
    summary: 'Decline an invitation',
    input: { params: invitationParams },
    responses: { 204: null },
    async handle({ invitations }, access, { params }) {
      await invitations.decline(access, params.id);
      return { status: 204 };
    },
  }),
  organizationRoute({
    method: 'GET',
    path: '/organizations/{org}/invitations',
    action: 'invitation.list',
    operation: 'listOrganizationInvitations',
    summary: 'List the invitations that wait in an organization',
    input: {},
    responses: { 200: invitationListView },
    async handle({ invitations }, access) {
      const list = await invitations.list(access);
      return { status: 200, body: { invitations: list.map(invitationViewOf), nextCursor: null } };
    },
  }),
  organizationRoute({
    method: 'DELETE',
    path: '/organizations/{org}/invitations/{id}',
    action: 'invitation.withdraw',
    operation: 'withdrawInvitation',
    summary: 'Withdraw an invitation that waits in an organization',
    input: { params: invitationParams },
    responses: { 204: null },
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
