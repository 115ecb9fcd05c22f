import { type QueryKey, type UseMutationResult, type UseQueryResult, useQuery } from '@tanstack/react-query';
import type { InvitationListView, InvitationView } from '../../wire/invitations.ts';
import type { MemberView } from '../../wire/members.ts';
import type { RoleBindingListView, RoleBindingView } from '../../wire/role-bindings.ts';
import type { CreatedInvitationView } from '../../wire/sign-in-links.ts';
import { ApiError, callApi } from './client.ts';
import { readPages } from './pages.ts';
import { useChange } from './use-change.ts';

export type Role = MemberView['role'];

/** A place of an organization by slugs; null for what it is not within. */
export interface RolePlace {
  readonly project: string | null;
  readonly environment: string | null;
}

/**
 * The roles at places of an organization and within them, by place and subject. The places are those that the user may list:
 * the organization, or several within it.
 */
export function useRoles(
  organization: string,
  places: readonly RolePlace[],
): UseQueryResult<readonly RoleBindingView[], ApiError> {
  const homes = places.map((place) => rolesPath(organization, place));
  return useQuery<readonly RoleBindingView[], ApiError>({
    queryKey: ['roles', organization, ...homes],
    queryFn: async () => {
      const pages = await Promise.all(homes.map((home) => readPages<RoleBindingListView>(home)));
      return pages.flat().flatMap(({ roles }) => roles);
    },
    enabled: homes.length > 0,
  });
}

/** The invitations to an organization that wait, for its admins. */
export function useOrganizationInvitations(organization: string): UseQueryResult<readonly InvitationView[], ApiError> {
  return useQuery<readonly InvitationView[], ApiError>({
    queryKey: ['invitations-to', organization],
    queryFn: async () => (await callApi<InvitationListView>(`/organizations/${organization}/invitations`)).invitations,
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
function pathOf(organization: string, { subject, ...place }: RoleChange): string {
  const name = encodeURIComponent(subject);
  if (place.project === null && !subject.startsWith('group:')) return `/members/${organization}/${name}`;
  return `${rolesPath(organization, place)}/${name}`;
}

function rolesPath(organization: string, { project, environment }: RolePlace): string {
  if (project === null) return `/organizations/${organization}/roles`;
  if (environment === null) return `/projects/${organization}/${project}/roles`;
  return `/environments/${organization}/${project}/${environment}/roles`;
}

/**
 * Gives, changes or withdraws a role. An e-mail address that no user has is invited, with a link that is returned this once.
 *
 * @param mayInvite whether the user invites such addresses, as admins of the organization do
 */
export function useRoleChange(
  organization: string,
  { mayInvite }: { readonly mayInvite: boolean },
): UseMutationResult<GivenRole, ApiError, RoleChange> {
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
        if (!mayInvite)
          throw new ApiError(`No user has this address. An admin of ${organization} can invite it.`, error);
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
