import { invitationListView, invitationParams, invitationView } from '../invitations.ts';
import { endpoint } from './endpoint.ts';

/** docs/interface.md 4.17 */

export const listInvitations = endpoint({
  method: 'GET',
  path: '/invitations',
  operation: 'listInvitations',
  summary: 'List the invitations that wait for you',
  input: {},
  responses: { 200: invitationListView },
});

export const acceptInvitation = endpoint({
  method: 'POST',
  path: '/invitations/{id}/accept',
  operation: 'acceptInvitation',
  summary: 'Accept an invitation, which gives you its role',
  input: { params: invitationParams },
  responses: { 200: invitationView },
});

export const declineInvitation = endpoint({
  method: 'POST',
  path: '/invitations/{id}/decline',
  operation: 'declineInvitation',
  summary: 'Decline an invitation',
  input: { params: invitationParams },
  responses: { 204: null },
});

export const listOrganizationInvitations = endpoint({
  method: 'GET',
  path: '/organizations/{org}/invitations',
  operation: 'listOrganizationInvitations',
  summary: 'List the invitations that wait in an organization',
  input: {},
  responses: { 200: invitationListView },
});

export const withdrawInvitation = endpoint({
  method: 'DELETE',
  path: '/organizations/{org}/invitations/{id}',
  operation: 'withdrawInvitation',
  summary: 'Withdraw an invitation that waits in an organization',
  input: { params: invitationParams },
  responses: { 204: null },
});
