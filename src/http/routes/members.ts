import type { MemberRecord } from '../../services/people/members.ts';
import { appointOwner, listMembers, removeMember, setMember } from '../../wire/contract/members.ts';
import type { MemberView } from '../../wire/members.ts';
import { type Route, instanceRoute, organizationRoute } from '../route.ts';
import { invitationViewOf } from './invitations.ts';

/** docs/interface.md 4, "Further routes" */
export const memberRoutes: readonly Route[] = [
  organizationRoute({
    ...listMembers,
    action: 'member.list',
    async handle({ members }, access) {
      const list = await members.list(access);
      return { status: 200, body: { members: list.map(viewOf), nextCursor: null } };
    },
  }),
  organizationRoute({
    ...setMember,
    action: 'member.set',
    async handle({ members }, access, { params, body }) {
      const result = await members.set(access, params.user, body);
      if ('invitation' in result) return { status: 202, body: invitationViewOf(result.invitation) };
      const { member, isNew } = result;
      return isNew ? { status: 201, body: viewOf(member) } : { status: 200, body: viewOf(member) };
    },
  }),
  organizationRoute({
    ...removeMember,
    action: 'member.remove',
    async handle({ members }, access, { params }) {
      await members.remove(access, params.user);
      return { status: 204 };
    },
  }),
  instanceRoute({
    ...appointOwner,
    action: 'organization.appoint_owner',
    async handle({ members }, access, { params, body }) {
      const { member, isNew } = await members.appointOwner(access, { organization: params.org }, body.user);
      return isNew ? { status: 201, body: viewOf(member) } : { status: 200, body: viewOf(member) };
    },
  }),
];

function viewOf({ createdAt, ...member }: MemberRecord): MemberView {
  return { ...member, createdAt: createdAt.toISOString() };
}
