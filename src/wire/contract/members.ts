import { appointOwnerBody, memberListView, memberParams, memberView, setMemberBody } from '../members.ts';
import { invitationView } from '../invitations.ts';
import { organizationPath } from '../tenancy.ts';
import { endpoint } from './endpoint.ts';

/** docs/interface.md 4, "Further routes" */

export const listMembers = endpoint({
  method: 'GET',
  path: '/members/{org}',
  operation: 'listMembers',
  summary: 'List the members of an organization, sorted by e-mail address',
  input: {},
  responses: { 200: memberListView },
});

export const setMember = endpoint({
  method: 'PUT',
  path: '/members/{org}/{user}',
  operation: 'setMember',
  summary: 'Invite a user to be a member, or change the role of a member',
  input: { params: memberParams, body: setMemberBody },
  responses: { 200: memberView, 201: memberView, 202: invitationView },
});

export const removeMember = endpoint({
  method: 'DELETE',
  path: '/members/{org}/{user}',
  operation: 'removeMember',
  summary: 'Remove a member; every member can leave, admins can remove others',
  input: { params: memberParams },
  responses: { 204: null },
});

export const appointOwner = endpoint({
  method: 'PUT',
  path: '/organizations/{org}/owner',
  operation: 'appointOwner',
  summary: 'Appoint an owner of an organization that has none',
  input: { params: organizationPath, body: appointOwnerBody },
  responses: { 200: memberView, 201: memberView },
});
