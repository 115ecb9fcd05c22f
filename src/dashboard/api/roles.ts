import { type QueryKey, type UseMutationResult, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { call } from '../../client/call.ts';
import { allPages } from '../../client/pages.ts';
import { type RoleEndpoints, roleEndpoints } from '../../client/endpoint-sets.ts';
import type { InvitationView } from '../../wire/invitations.ts';
import type { MemberView } from '../../wire/members.ts';
import type { RoleBindingView } from '../../wire/role-bindings.ts';
import { ApiError, api } from './client.ts';
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
  return useQuery<readonly RoleBindingView[], ApiError>({
    queryKey: ['roles', organization, ...places],
    queryFn: async () => {
      const pages = await Promise.all(
        places.map((place) => {
          const params = paramsOf(organization, place);
          return allPages(
            async (cursor) => (await call(api, endpointsOf(place).list, { params, query: { cursor } })).body,
          );
        }),
      );
      return pages.flat().flatMap(({ roles }) => roles);
    },
    enabled: places.length > 0,
  });
}

/** The invitations to an organization that wait, for its admins. */
export function useOrganizationInvitations(organization: string): UseQueryResult<readonly InvitationView[], ApiError> {
  return useQuery<readonly InvitationView[], ApiError>({
    queryKey: ['invitations-to', organization],
    queryFn: async () => {
      const params = { org: organization };
      return (await call(api, 'GET /organizations/{org}/invitations', { params })).body.invitations;
    },
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

function endpointsOf({ project, environment }: RolePlace): RoleEndpoints {
  if (project === null) return roleEndpoints.organization;
  return environment === null ? roleEndpoints.project : roleEndpoints.environment;
}

/** The names in the paths of these endpoints. Those below the place are empty. */
function paramsOf(
  organization: string,
  { project, environment }: RolePlace,
): { readonly org: string; readonly project: string; readonly env: string } {
  return { org: organization, project: project ?? '', env: environment ?? '' };
}

/** The role of a user in the organization is a membership. */
function isMembership({ project, subject }: RoleChange): boolean {
  return project === null && !subject.startsWith('group:');
}

async function withdrawRole(organization: string, change: RoleChange): Promise<void> {
  const { subject } = change;
  if (isMembership(change)) {
    await call(api, 'DELETE /members/{org}/{user}', { params: { org: organization, user: subject } });
  } else {
    await call(api, endpointsOf(change).remove, { params: { ...paramsOf(organization, change), subject } });
  }
}

/** Returns whether the user must accept it first. */
async function giveRole(organization: string, change: RoleChange, role: Role): Promise<boolean> {
  const { subject } = change;
  if (isMembership(change)) {
    const request = { params: { org: organization, user: subject }, body: { role } };
    return (await call(api, 'PUT /members/{org}/{user}', request)).status === 202;
  }
  if (role === 'owner') {
    const detail = 'Only a user can be an owner, and only of the whole organization.';
    throw new ApiError(detail, { status: 422, code: 'invalid_input', retryAfterSeconds: undefined });
  }
  const request = { params: { ...paramsOf(organization, change), subject }, body: { role } };
  return (await call(api, endpointsOf(change).set, request)).status === 202;
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
      if (role === null) {
        await withdrawRole(organization, change);
        return { isInvitation: false, link: undefined };
      }
      try {
        return { isInvitation: await giveRole(organization, change, role), link: undefined };
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== 'not_found' || !subject.includes('@')) throw error;
        if (!mayInvite)
          throw new ApiError(`No user has this address. An admin of ${organization} can invite it.`, error);
      }
      const invited = await call(api, 'POST /organizations/{org}/invitations', {
        params: { org: organization },
        body: { email: subject, role, project: project ?? undefined, environment: environment ?? undefined },
      });
      return { isInvitation: true, link: invited.body.link };
    },
    ...listsOf(organization),
  );
}

/** Withdraws an invitation by its id. Its link ends too. */
export function useWithdrawInvitation(organization: string): UseMutationResult<void, ApiError, string> {
  return useChange(
    async (id) => {
      await call(api, 'DELETE /organizations/{org}/invitations/{id}', { params: { org: organization, id } });
    },
    ...listsOf(organization),
  );
}
