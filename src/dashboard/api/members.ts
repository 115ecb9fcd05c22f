import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { call } from '../../client/call.ts';
import type { MemberView } from '../../wire/members.ts';
import { type ApiError, api } from './client.ts';

/** The members of an organization, by e-mail address. */
export function useMembers(
  organization: string,
  { enabled = true }: { readonly enabled?: boolean } = {},
): UseQueryResult<readonly MemberView[], ApiError> {
  return useQuery<readonly MemberView[], ApiError>({
    queryKey: ['members', organization],
    queryFn: async () => (await call(api, 'GET /members/{org}', { params: { org: organization } })).body.members,
    enabled,
  });
}
