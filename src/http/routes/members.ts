import type { MemberRecord } from '../../services/people/members.ts';
import {
  type MemberView,
  appointOwnerBody,
  memberListView,
  memberParams,
  memberView,
  setMemberBody,
} from '../../wire/members.ts';
import { invitationView } from '../../wire/invitations.ts';
import { organizationPath } from '../../wire/tenancy.ts';
import { type Route, instanceRoute, organizationRoute } from '../route.ts';
import { invitationViewOf } from './invitations.ts';

/** docs/interface.md 4, "Further routes" */
export const memberRoutes: readonly Route[] = [
  organizationRoute({
    method: 'GET',
    path: '/members/{org}',
    action: 'member.list',
    operation: 'listMembers',
    summary: 'List the members of an organization, sorted by e-mail address',
    input: {},
    responses: { 200: memberListView },
    async handle({ members }, access) {
      const list = await members.list(access);
      return { status: 200, body: { members: list.map(viewOf), nextCursor: null } };
    },
  }),
  organizationRoute({
    method: 'PUT',
    path: '/members/{org}/{user}',
    action: 'member.set',
    operation: 'setMember',
    summary: 'Invite a user to be a member, or change the role of a member',
    input: { params: memberParams, body: setMemberBody },
    responses: { 200: memberView, 201: memberView, 202: invitationView },
    async handle({ members }, access, { params, body }) {
      const result = await members.set(access, params.user, body);
      if ('invitation' in result) return { status: 202, body: invitationViewOf(result.invitation) };
      const { member, isNew } = result;
      return isNew ? { status: 201, body: viewOf(member) } : { status: 200, body: viewOf(member) };
    },
  }),
  organizationRoute({
    method: 'DELETE',
    path: '/members/{org}/{user}',
    action: 'member.remove',
    operation: 'removeMember',
    summary: 'Remove a member; every member can leave, admins can remove others',
    input: { params: memberParams },
    responses: { 204: null },
    async handle({ members }, access, { params }) {
      await members.remove(access, params.user);
      return { status: 204 };
    },
  }),
  instanceRoute({
    method: 'PUT',
    path: '/organizations/{org}/owner',
    action: 'organization.appoint_owner',
    operation: 'appointOwner',
    summary: 'Appoint an owner of an organization that has none',
    input: { params: organizationPath, body: appointOwnerBody },
    responses: { 200: memberView, 201: memberView },
    async handle({ members }, access, { params, body }) {
      const { member, isNew } = await members.appointOwner(access, { organization: params.org }, body.user);
      return isNew ? { status: 201, body: viewOf(member) } : { status: 200, body: viewOf(member) };
    },
  }),
];

function viewOf({ createdAt, ...member }: MemberRecord): MemberView {
  return { ...member, createdAt: createdAt.toISOString() };
}
