import { type QueryKey, type UseMutationResult, type UseQueryResult, useQuery } from '@tanstack/react-query';
import type { InvitationListView, InvitationView } from '../../wire/invitations.ts';
import type { MemberView } from '../../wire/members.ts';
import type { RoleBindingListView, RoleBindingView } from '../../wire/role-bindings.ts';
import type { CreatedInvitationView } from '../../wire/sign-in-links.ts';
import { ApiError, callApi } from './client.ts';
import { useChange } from './use-change.ts';

export type Role = MemberView['role'];

/** A place of an organization by slugs; null for what it is not within. */
export interface RolePlace {
  readonly project: string | null;
  readonly environment: string | null;
}

const maxPages = 20;

/** The roles by place in an organization, by place and subject. */
export function useRoles(organization: string): UseQueryResult<readonly RoleBindingView[], ApiError> {
  return useQuery<readonly RoleBindingView[], ApiError>({
    queryKey: ['roles', organization],
    queryFn: async () => {
      const found: RoleBindingView[] = [];
      let cursor: string | null = null;
      for (let page = 0; page < maxPages; page += 1) {
        const query: string = cursor === null ? '' : `?cursor=${encodeURIComponent(cursor)}`;
        const path = `/organizations/${organization}/roles${query}`;
        const { roles, nextCursor }: RoleBindingListView = await callApi<RoleBindingListView>(path);
        found.push(...roles);
        if (nextCursor === null) break;
        cursor = nextCursor;
      }
      return found;
    },
  });
}

/** The invitations to an organization that wait, for its admins. */
export function useOrganizationInvitations(
  organization: string,
  { enabled }: { readonly enabled: boolean },
): UseQueryResult<readonly InvitationView[], ApiError> {
  return useQuery<readonly InvitationView[], ApiError>({
    queryKey: ['invitations-to', organization],
    queryFn: async () => (await callApi<InvitationListView>(`/organizations/${organization}/invitations`)).invitations,
    enabled,
  });
}

function listsOf(organization: string): readonly QueryKey[] {
  return [['members', organization], ['roles', organization], ['invitations-to', organization], ['me']];
}

/** Who has a role: a user by id or e-mail address, or `group:NAME`. */
export interface RoleChange extends RolePlace {
  readonly subject: string;
  /** Null withdraws it. */
  readonly role: Role | null;
}

/** What a change of a role became. */
export interface GivenRole {
  /** Whether the user must accept it first. */
  readonly isInvitation: boolean;
  /** With which a person becomes a user who was none; only this response has it. */
  readonly link: string | undefined;
}

/** The path of a role. The role of a user in the organization is a membership. */
function pathOf(organization: string, { subject, project, environment }: RoleChange): string {
  const name = encodeURIComponent(subject);
  if (project === null) {
    return subject.startsWith('group:')
      ? `/organizations/${organization}/roles/${name}`
      : `/members/${organization}/${name}`;
  }
  if (environment === null) return `/projects/${organization}/${project}/roles/${name}`;
  return `/environments/${organization}/${project}/${environment}/roles/${name}`;
}

/**
 * Gives, changes or withdraws a role. An e-mail address that no user has is invited, with a link that is returned this once.
 */
export function useRoleChange(organization: string): UseMutationResult<GivenRole, ApiError, RoleChange> {
  return useChange(
    async (change) => {
      const { role, subject, project, environment } = change;
      const path = pathOf(organization, change);
      if (role === null) {
        await callApi(path, { method: 'DELETE' });
        return { isInvitation: false, link: undefined };
      }
      try {
        const given = await callApi<object>(path, { method: 'PUT', body: { role } });
        return { isInvitation: 'invitedBy' in given, link: undefined };
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== 'not_found' || !subject.includes('@')) throw error;
      }
      const { link } = await callApi<CreatedInvitationView>(`/organizations/${organization}/invitations`, {
        method: 'POST',
        body: {
          email: subject,
          role,
          ...(project === null ? {} : { project }),
          ...(environment === null ? {} : { environment }),
        },
      });
      return { isInvitation: true, link };
    },
    ...listsOf(organization),
  );
}

/** Withdraws an invitation by its id. Its link ends too. */
export function useWithdrawInvitation(organization: string): UseMutationResult<void, ApiError, string> {
  return useChange(
    (id) => callApi(`/organizations/${organization}/invitations/${id}`, { method: 'DELETE' }),
    ...listsOf(organization),
  );
}
